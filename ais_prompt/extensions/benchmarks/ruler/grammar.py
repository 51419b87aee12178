"""The grammar of the filler: sentences, keys, and words that no dictionary has.

Random choices are the same on every machine and with every version of Python.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Final, Literal, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

Language: TypeAlias = Literal["en", "zh"]

# fmt: off
_QUALITIES: Final = (
    "amber", "ancient", "autumn", "bitter", "blue", "bold", "brass", "brave", "bright", "broken", "calm", "careful",
    "cheap", "clever", "cold", "copper", "crooked", "curious", "dark", "distant", "double", "dusty", "early", "eager",
    "empty", "even", "faded", "famous", "fast", "fine", "flat", "foreign", "fresh", "gentle", "glass", "golden",
    "grand", "gray", "green", "half", "heavy", "hidden", "hollow", "honest", "humble", "idle", "iron", "ivory",
    "jolly", "keen", "large", "late", "lazy", "little", "lonely", "long", "loud", "lucky", "marble", "mild", "modest",
    "narrow", "neat", "northern", "old", "open", "pale", "paper", "patient", "plain", "polite", "proud", "purple",
    "quick", "quiet", "rare", "red", "rough", "round", "royal", "rusty", "salty", "scarlet", "shallow", "sharp",
    "silent", "silver", "simple", "slow", "small", "soft", "solid", "southern", "spare", "square", "steady", "strange",
    "sunny", "sweet", "tall",
)
_THINGS: Final = (
    "anchor", "apple", "arrow", "barrel", "basket", "bell", "bench", "blanket", "boat", "book", "bottle", "bowl",
    "bridge", "broom", "bucket", "button", "cabin", "candle", "canvas", "carpet", "cart", "chair", "chest", "clock",
    "coat", "coin", "compass", "cradle", "crown", "cup", "curtain", "desk", "door", "drawer", "drum", "engine", "fan",
    "feather", "fence", "flag", "flute", "fork", "fountain", "garden", "gate", "glove", "hammer", "harp", "hat",
    "helmet", "hook", "horn", "jacket", "jar", "kettle", "key", "kite", "ladder", "lamp", "lantern", "ledger",
    "letter", "lock", "map", "mask", "medal", "mirror", "needle", "oar", "oven", "pan", "parcel", "pencil", "piano",
    "picture", "pillow", "pipe", "plate", "plough", "pocket", "pot", "purse", "puzzle", "quilt", "raft", "ribbon",
    "ring", "robe", "rope", "saddle", "sail", "scale", "scarf", "shelf", "ship", "shoe", "sled", "spade", "spoon",
    "stamp", "stove", "table", "tent", "thread", "ticket", "tower", "towel", "tray", "trumpet", "trunk", "umbrella",
    "vase", "violin", "wagon", "wallet", "watch", "wheel", "whistle", "window", "yarn",
)
_PEOPLE: Final = (
    "actor", "baker", "barber", "carpenter", "clerk", "cook", "dancer", "dentist", "doctor", "driver", "farmer",
    "fisher", "gardener", "guard", "guide", "hunter", "judge", "lawyer", "mason", "miller", "nurse", "painter",
    "pilot", "poet", "porter", "potter", "sailor", "singer", "tailor", "teacher", "tenant", "weaver",
)
_DEEDS: Final = (
    "admired", "borrowed", "carried", "cleaned", "collected", "described", "drew", "examined", "found", "hid", "kept",
    "lent", "lifted", "lost", "measured", "repaired", "moved", "noticed", "ordered", "packed", "painted", "polished",
    "received", "returned", "sketched", "sold", "stored", "studied", "took away", "traded", "weighed", "wrapped",
)
_PLACES: Final = (
    "at the harbour", "at the market", "at the mill", "at the station", "behind the church", "behind the orchard",
    "beside the canal", "beside the river", "by the lake", "by the sea", "in a courtyard", "in a small hotel",
    "in the attic", "in the cellar", "in the library", "in the valley", "near the old wall", "near the theatre",
    "on the beach", "on the ferry", "on the hill", "on the north road", "outside the school", "under the arches",
)
_TIMES: Final = (
    "after breakfast", "after the concert", "all afternoon", "at dawn", "at noon", "before the storm",
    "during the fair", "early in spring", "every Monday", "in the evening", "last winter", "late at night",
    "on a holiday", "one morning", "on the way home", "while it rained",
)
_PEOPLE_ZH: Final = (
    "木匠", "渔夫", "医生", "老师", "裁缝", "船长", "画家", "厨师", "园丁", "邮差", "诗人", "工人", "农夫", "店主",
    "歌手", "学生",
)
_QUALITIES_ZH: Final = (
    "年轻的", "年迈的", "安静的", "勤劳的", "好奇的", "细心的", "热情的", "沉默的", "高大的", "聪明的", "善良的",
    "疲倦的",
)
_TIMES_ZH: Final = (
    "清晨", "中午", "傍晚", "深夜", "春天", "夏天", "秋天", "冬天", "下雨时", "放学后", "集市那天", "节日前", "上个月",
    "周末",
)
_PLACES_ZH: Final = (
    "河边", "山脚下", "码头", "村口", "图书馆", "院子里", "市场", "桥头", "车站", "老街", "湖边", "果园", "剧院门口",
    "茶馆",
)
_DEEDS_ZH: Final = (
    "修好了", "买下了", "找到了", "画下了", "送出了", "收好了", "搬走了", "丢失了", "擦亮了", "借来了", "看见了",
    "卖掉了",
)
_THINGS_ZH: Final = (
    "竹篮", "灯笼", "木船", "瓷碗", "铜铃", "地图", "雨伞", "毛毯", "信封", "茶壶", "风筝", "梯子", "油画", "书桌",
    "棉袄", "钥匙", "石磨", "笛子", "算盘", "屏风", "马车", "渔网", "铁锅", "花瓶",
)
_COLOURS_ZH: Final = (
    "红色", "蓝色", "绿色", "黄色", "白色", "黑色", "紫色", "灰色", "金色", "银色", "棕色", "青色", "老旧", "崭新",
    "沉重", "轻巧", "精致", "简朴", "古老", "奇特", "普通", "珍贵", "粗糙", "光滑",
)
# fmt: on

REFRAIN: Final[Mapping[Language, tuple[str, ...]]] = {
    "en": (
        "The rain falls on the roof.",
        "The tea is warm.",
        "A dog sleeps by the door.",
        "The road goes up the hill.",
        "Someone hums an old song.",
    ),
    "zh": ("雨落在屋顶上。", "茶还是热的。", "小狗睡在门边。", "路一直通到山上。", "有人哼着老歌。"),
}
"""What the simplest haystack repeats."""


def _sentence_en(dice: Dice) -> str:
    who, what = (f"{dice.pick(_QUALITIES)} {dice.pick(kind)}" for kind in (_PEOPLE, _THINGS))
    return f"The {who} {dice.pick(_DEEDS)} the {what} {dice.pick(_PLACES)} {dice.pick(_TIMES)}."


def _sentence_zh(dice: Dice) -> str:
    who = dice.pick(_QUALITIES_ZH) + dice.pick(_PEOPLE_ZH)
    what = f"{dice.pick(_COLOURS_ZH)}的{dice.pick(_THINGS_ZH)}"
    return f"{dice.pick(_TIMES_ZH)}，{who}在{dice.pick(_PLACES_ZH)}{dice.pick(_DEEDS_ZH)}一件{what}。"


SENTENCES: Final[Mapping[Language, Callable[[Dice], str]]] = {"en": _sentence_en, "zh": _sentence_zh}
"""Language → how a sentence without numbers is made."""

KEYS: Final[Mapping[Language, tuple[str, ...]]] = {
    "en": tuple(f"{quality} {thing}" for quality in _QUALITIES for thing in _THINGS),
    "zh": tuple(f"{place}的{colour}{thing}" for place in _PLACES_ZH for colour in _COLOURS_ZH for thing in _THINGS_ZH),
}
"""Language → names of things that have a value."""


def new_words(dice: Dice, number: int) -> list[str]:
    """Return different words of three syllables that no dictionary has."""
    words: dict[str, None] = {}
    while len(words) < number:
        syllables = (dice.pick("bdfgklmnprstvz") + dice.pick("aeiou") for _ in range(3))
        words["".join(syllables) + dice.pick("lmnrst")] = None
    return list(words)


T = TypeVar("T")


class Dice:
    """Choose by a seed. Only `Random.random` is used: Python may change how the other methods choose, not this one.

    Args:
        seed: texts and numbers, all of which decide the choices.
    """

    def __init__(self, *seed: object) -> None:
        self._random = Random("/".join(map(str, seed))).random

    def below(self, number: int) -> int:
        """Return a whole number from 0 to below ``number``."""
        return int(self._random() * number)

    def share(self) -> float:
        """Return a number from 0 to below 1."""
        return self._random()

    def pick(self, values: Sequence[T]) -> T:
        """Return one of the values."""
        return values[self.below(len(values))]

    def order(self, number: int) -> NDArray[np.intp]:
        """Return the numbers from 0 to below ``number`` in a random order."""
        return np.argsort([self._random() for _ in range(number)], kind="stable")

    def some(self, values: Sequence[T], number: int) -> list[T]:
        """Return so many of the values, each at most once."""
        return [values[place] for place in self.order(len(values))[:number]]

    def digits(self, number: int) -> str:
        """Return a whole number with so many digits."""
        lowest: int = 10 ** (number - 1)
        return str(lowest + self.below(9 * lowest))

    def uuid(self) -> str:
        """Return 32 hexadecimal digits in the form of a UUID."""
        digits = "".join(self.pick("0123456789abcdef") for _ in range(32))
        return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))
