"""Words of languages other than English and Chinese: which answer is right, denied, one of several, or only possible.

They are parts of regular expressions. Those that announce an answer are no English words, so English answers are read
as without them.
Traditional Chinese is read as simplified (`SIMPLIFIED`).
"""

from __future__ import annotations

from typing import Final

ANSWER: Final = (
    r"antwort|lösung|réponse|respuesta|resposta|risposta|antwoord|svar|vastaus|odpowied|odpověď|răspuns|válasz|cevap|cevab|yanıt"
    r"|đáp\s+án|jawaban|jibu|erantzun|ответ|відповід|απάντηση|תשובה|إجابة|اجابة|جواب|پاسخ|उत्तर|উত্তর|คำตอบ|விடை|సమాధానం"
    r"|opci[óo]n|opção|alternativa|opzione|seçenek|lựa\s+chọn|pilihan|letra|lettre|вариант|варіант|گزینه|विकल्प|ตัวเลือก"
    r"|정답|답|선택지|보기|正解|答え|选択肢"
)
"""An answer, an option."""
RIGHT: Final = (
    r"richtig|korrekt|correcte|correct[ao]|corret[ao]|corrett[ao]|juist|riktig|rigtig|rätt|oikea|poprawn|správn|doğru|đúng|benar"
    r"|bonne|juste|giust[ao]|sahihi|zuzen|правильн|верн|вірн|σωστ|נכונ|صحيح|صحیح|सही|সঠিক|ถูกต้อง|맞|옳|正し|适切|适当"
)
"""The beginning of what a right answer is called."""
CHOOSE: Final = (
    r"wähle|entscheide\s+mich\s+für|choisis|elijo|escojo|escolho|scelgo|kies|väljer|velger"
    r"|wybieram|seçiyorum|memilih|chọn|выбираю|обираю|επιλέγω|เลือก"
)
"""I choose."""
IS: Final = (
    r"es|est|ist|sind|son|sont|están|estão|é|è|são|sono|är|er|is|to|là|adalah|ni|jest|είναι|היא|הוא|هي|هو|это|है|คือ"
)
ARTICLE: Final = r"la|le|el|il|die|der|das|o|a|una?|une|uno|um|uma|eine?|sehr|eindeutig|très|muy|muito|molto|очень|rất"
"""An article, or an adverb of degree."""
IF: Final = r"\b(?:si|ob|wenn|falls|если)\b"
SO: Final = (
    r"\b(?:c['’]est|(?:es|das)\s+ist|es|é|è|dat\s+is|het\s+is|det\s+(?:är|er)|to\s+jest|это|đó\s+là"
    r"|donc|alors|daher|deshalb|folglich|entonces|portanto|quindi|значит|поэтому|следовательно)\b|따라서|그러므로|よって|したがって"
)
"""It is, and so."""
IS_AFTER: Final = (
    r"\s?[번항]?\s?(?:입니다|이다|이에요|예요|임(?![가-힣])|です|である"
    r"|だ(?![ぁ-ん])|[にと]なります|['’]?[dt][ıiuü]r\b|है|ہے|است|da\b)"
)
"""Is, after the answer."""
NOT: Final = (
    r"\b(?:nicht|kein\w{0,2}|weder|niet|geen|non|não|nem|nunca|pas|jamais|inte|ikke|nie|ani|ne|bukan|tidak|không|chẳng"
    r"|не|ни|нет|δεν|לא|ليس\w{0,2}|غير)\b|ไม่|\bno(?=\s+(?:es|era|son|est[áa]|parece|és)\b)|(?<=,\s)no(?=\s)"
)
"""Not, before what it denies."""
NOT_AFTER: Final = (
    r"[가-힣]{0,3}(?:\s[가-힣]{1,4})?\s?(?:아니|아닙|아닌|않|수\s?없)|(?:な[\u4e00-\u9fff]{1,4})?(?:で|じゃ|と|く)[はも]?\s?(?:な[いくか]|ありませ|言え)"
    r"|(?:\s+\w{1,20})?\s+(?:değil|नहीं|নয়|نیست)"
)
"""Not, after what it denies."""
PARTICLES: Final = (
    r"(?:적(?:인|으로|이)?)?(?:입니다|이다|이에요|예요|이라고|라고|이며|이고|임|인"
    r"|은|는|이|가|을|를|으로|로|의|에|도|만|과|와)?(?![가-힣])"
)
"""What a Korean word ends in."""
WRONG_AFTER: Final = (
    rf"(?:\s+(?:{IS})\s+|[는은がは]\s?)"
    r"(?:falsch|faux|fausse|fals[ao]|incorrecte|incorrect[ao]|errad[ao]|sbagliat[ao]|yanlış|salah|неверн|неправильн|틀|間違|误)"
)
"""Is wrong, after what it denies."""
AND: Final = r"\b(?:und|noch|et|ni|y|e|i|и|та|och|og|en|ve|và|dan|na|και|و|और)\b|와|과|및|と|や"
OR: Final = r"\b(?:oder|ou|o|или|або|eller|veya|hoặc|atau|lub|ή|أو|या|یا)\b|หรือ|또는|혹은|아니면|이나|나|か|または"
"""What joins several answers."""
MAY: Final = (
    r"\b(?:könnte\w*|vielleicht|podría|puede|quizás?|pourrait|peut|potrebbe|forse|poderia|pode|talvez|может|возможно|kanske|mungkin"
    r"|có\s+thể|belki|manche|viele|einige|certains|beaucoup|algunos|muchos|alguns|muitos|alcuni|molti|многие|некоторые)\b"
)
"""What makes an answer only possible, or that of others."""
_PAIRS: Final = (
    "對对錯错誤误選选擇择項项為为應应該该確确認认則则說说沒没無无並并別别結结論论斷断終终經经過过計计驗验證证顯显雖虽盡尽許许問问題题時时實实這这總总"
    "歸归屬属綜综體体負负積积極极質质還还與与個个們们樣样難难覺觉傾倾於于來来從从變变會会號号處处現现發发記记讀读寫写當当嚴严謹谨貼贴準准適适兩两見见"
    "給给檢检讓让後后達达單单種种類类級级點点輪轮組组車车張张線线東东況况賴赖決决頭头話话條条據据視视邊边敘叙滿满餘余數数"
)
SIMPLIFIED: Final = str.maketrans(_PAIRS[::2], _PAIRS[1::2])
"""The traditional signs of what patterns look for, as simplified ones."""
