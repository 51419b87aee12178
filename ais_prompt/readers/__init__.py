"""From files to rows: where the questions of a dataset come from.

The readers can be imported from here; the module that defines one is loaded when its name is first used.
"""

from typing import TYPE_CHECKING

from ais_prompt.rooms import offered

if TYPE_CHECKING:
    from ais_prompt.readers.base import Dataset, Reader, load_dataset
    from ais_prompt.readers.batches import BATCH_BYTES, ArrowBatches, NumberedRow, StoredBatches, rows_of, store_rows
    from ais_prompt.readers.data_path import data_places, find_data, missing_data, require_data
    from ais_prompt.readers.draw import allot, drawn, number_drawn
    from ais_prompt.readers.formats import guessed_csv_form, missing_file, read_file, reading, split_name
    from ais_prompt.readers.given_rows import hold_rows, write_rows
    from ais_prompt.readers.hugging_face import HuggingFaceDataset, to_table
    from ais_prompt.readers.local import LocalDataset
    from ais_prompt.readers.ranges import select
    from ais_prompt.readers.row_shape import (
        LETTERS,
        GoldOfOptions,
        Option,
        RowShape,
        chat_of,
        flat,
        option_columns,
        parse_shape,
        parsed,
        right_places,
        shuffled,
        split_chat,
    )
    from ais_prompt.readers.spoiled import spoil
    from ais_prompt.readers.table import Row, RowIds, Table, join_tables
    from ais_prompt.readers.text_encoding import guess_encoding
else:
    __getattr__, __dir__ = offered(__name__, "readers")
