"""Data: from files to rows, and which rows a question shows as its examples.

Readers, retrievers and encoders can be imported from here; each is loaded when its name is first used.
"""

from typing import TYPE_CHECKING

from ais_prompt.rooms import offered

if TYPE_CHECKING:
    from ais_prompt.data.asked_samples import allot, drawn, number_drawn, spoil
    from ais_prompt.data.batches import BATCH_BYTES, ArrowBatches, NumberedRow, StoredBatches, rows_of, store_rows
    from ais_prompt.data.column_names import ANSWERS, NO_CONTENT, OPTION_LISTS, QUESTIONS, plain_name
    from ais_prompt.data.compared_texts import (
        Bm25Index,
        BM25Retriever,
        CharacterNgramEncoder,
        Embeddings,
        Encoder,
        HuggingFaceEncoder,
        TopkRetriever,
        word_tokenizer,
    )
    from ais_prompt.data.data_shapes import SHAPES, Shape, find_shape
    from ais_prompt.data.file_kinds import guess_encoding
    from ais_prompt.data.formats import (
        guessed_csv_form,
        label_names,
        missing_file,
        read_file,
        reading,
        row_place,
        split_name,
    )
    from ais_prompt.data.given_rows import hold_rows, write_rows
    from ais_prompt.data.hugging_face import HuggingFaceDataset, to_table
    from ais_prompt.data.local import LocalDataset
    from ais_prompt.data.reader import (
        Dataset,
        Reader,
        data_places,
        find_data,
        load_dataset,
        missing_data,
        require_data,
        select,
    )
    from ais_prompt.data.retriever import (
        ComparesTexts,
        FixKRetriever,
        RandomRetriever,
        RetrievalText,
        Retriever,
        RowLists,
        ShotIds,
        SlidingWindowRetriever,
        ZeroRetriever,
        own_rows,
    )
    from ais_prompt.data.row_options import LETTERS, GoldOfOptions, Option, option_columns, right_places, shuffled
    from ais_prompt.data.row_shape import RowShape, flat, named_numbers, parse_shape
    from ais_prompt.data.table import Row, RowIds, Table, join_tables
else:
    __getattr__, __dir__ = offered(__name__, "readers", "retrievers", "encoders")
