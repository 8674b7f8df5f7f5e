"""Words of other languages as the words that tools use."""

from collections.abc import Iterator
from importlib.resources import files
from unicodedata import normalize

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.properties.strategies import any_text, quick
from tests.requirements import requirement
from tooldrawer.search.lexicon import ENGLISH, LATIN, Gloss, language, spoken
from tooldrawer.search.text import folded

FOLDER = files("tooldrawer.search") / "languages"
CODES = sorted(file.name.removesuffix(".tsv") for file in FOLDER.iterdir())
FOREIGN = [code for code in CODES if code != ENGLISH]
NAMES = ("github", "slack", "notion", "jira", "linear", "stripe", "redis", "kubernetes")


def nobody(_: str) -> bool:
    """No tool has the word."""
    return False


def glosses(code: str, text: str, *known: str) -> list[Gloss]:
    return list(language(code).glosses(text, is_english=lambda word: word in known))


def english(code: str, text: str, *known: str) -> list[str]:
    """The likeliest meaning of each word, with some words that tools have."""
    return [gloss.meant[0] for gloss in glosses(code, text, *known)]


def lines(code: str) -> list[list[str]]:
    text = (FOLDER / f"{code}.tsv").read_text("utf-8")
    return [line.split("\t") for line in text.removesuffix("\n").split("\n")]


def entries(code: str) -> Iterator[tuple[str, str]]:
    for meaning, words in lines(code)[1:]:
        for word in words.split(", "):
            yield meaning, word


def test_there_are_nineteen_languages_beside_english() -> None:
    assert " ".join(FOREIGN) == "ar cs de es fr hi id it ja ko nl pl pt ru sv tr uk vi zh"
    assert set(LATIN) < set(FOREIGN)


@pytest.mark.parametrize("code", CODES)
def test_a_dictionary_is_well_formed(code: str) -> None:
    first, *others = lines(code)
    assert first[0] == "-"
    meanings = [meaning for meaning, *_ in others]
    assert len(set(meanings)) == len(meanings) > 900
    for meaning, *rest in [first, *others]:
        assert len(rest) == 1, meaning
        words = rest[0].split(", ")
        assert len(set(words)) == len(words), meaning
        for word in (meaning, *words):
            assert word == word.strip().lower(), meaning
            assert word, meaning
            assert "," not in word, meaning
            assert "  " not in word, meaning


@pytest.mark.parametrize("code", FOREIGN)
def test_whatever_a_dictionary_has_is_found_in_a_text(code: str) -> None:
    function_words = language(code).function_words
    for meaning, word in entries(code):
        found = glosses(code, word)
        if found:
            assert len(found) == 1, word
            assert meaning in found[0].meant or len(found[0].meant) == 4, word
        else:
            assert folded(word).casefold().strip("'") in function_words, word


@requirement("SEARCH-5")
@pytest.mark.parametrize(
    ("code", "text", "expected"),
    [
        ("ar", "احذف الملف من المجلد", "delete file folder"),
        ("ar", "أرسل رسالة إلى القناة", "send message channel"),
        ("cs", "smaž soubor ze složky", "delete file folder"),
        ("cs", "pošli zprávu zákazníkovi", "send message customer"),
        ("de", "Lösche bitte die Datei im Ordner", "delete file folder"),
        ("de", "Erstelle eine neue Aufgabe im Kalender", "create new task calendar"),
        ("es", "borra el archivo de la carpeta", "delete file folder"),
        ("es", "busca los correos no leídos", "search email unread"),
        ("fr", "supprime le fichier du dossier", "delete file folder"),
        ("fr", "envoie un message à l'équipe, s'il te plaît", "send message team"),
        ("hi", "फ़ोल्डर से फ़ाइल हटाओ", "folder file delete"),
        ("hi", "कैलेंडर में नया कार्य बनाओ", "calendar new task create"),
        ("id", "hapus berkas dari folder", "delete file folder"),
        ("id", "buat tugas baru di kalender", "create task new calendar"),
        ("it", "elimina il file dalla cartella", "delete file folder"),
        ("it", "cerca i messaggi non letti", "search message unread"),
        ("ja", "フォルダからファイルを削除して", "folder file delete"),
        ("ja", "カレンダーに新しい予定を追加して", "calendar new schedule add"),
        ("ko", "폴더에서 파일을 삭제해줘", "folder file delete"),
        ("ko", "채널에 메시지를 보내줘", "channel message send"),
        ("nl", "verwijder het bestand uit de map", "delete file folder"),
        ("nl", "stuur een bericht naar het kanaal", "send message channel"),
        ("pl", "usuń plik z folderu", "delete file folder"),
        ("pl", "utwórz nowe zadanie w kalendarzu", "create new task calendar"),
        ("pt", "apaga o arquivo da pasta", "delete file folder"),
        ("pt", "cria uma nova tarefa no calendário", "create new task calendar"),
        ("ru", "удали файл из папки", "delete file folder"),
        ("ru", "создай новую задачу в календаре", "create new task calendar"),
        ("sv", "ta bort filen från mappen", "remove file folder"),
        ("sv", "skicka ett meddelande till kanalen", "send message channel"),
        ("tr", "klasördeki dosyay\u0131 sil", "folder file delete"),
        ("tr", "takvimde yeni bir görev oluştur", "calendar new task create"),
        ("uk", "видали файл з папки", "delete file folder"),
        ("uk", "надішли повідомлення в канал", "send message channel"),
        ("vi", "vui lòng xóa tệp trong thư mục", "delete file folder"),
        ("vi", "tạo một sự kiện mới trong lịch", "create event new calendar"),
        ("zh", "删除文件夹里的文件", "delete folder file"),
        ("zh", "给频道发送消息", "channel send message"),
    ],
)
def test_a_language_is_recognised_and_its_words_are_understood(
    code: str, text: str, expected: str
) -> None:
    # However the accents are stored: in their letters, or behind them.
    for stored in (normalize("NFC", text), normalize("NFD", text), text.upper()):
        found = spoken(stored, is_english=nobody)
        assert found is not None
        assert (found.code, english(code, stored)) == (code, expected.split())


@requirement("SEARCH-5")
@pytest.mark.parametrize(
    ("code", "text", "expected"),
    [
        ("de", "Dateien", "file"),
        ("es", "borrando", "delete"),
        ("it", "cartelle", "folder"),
        ("pl", "kalendarzach", "calendar"),
        ("cs", "kalendáři", "calendar"),
        ("ru", "календарями", "calendar"),
        ("uk", "календарями", "calendar"),
        ("tr", "klasöründe", "folder"),
        ("sv", "kalendern", "calendar"),
        ("hi", "फ़ाइलों", "file"),
        # Two nouns as one word.
        ("de", "Kundendaten", "customer data"),
        ("de", "Projektdateien", "project file"),
        ("nl", "klantgegevens", "client data"),
        # Particles, and the verb of an order, behind a noun.
        ("ko", "폴더에서", "folder"),
        ("ko", "파일을", "file"),
        ("ko", "추가해주세요", "add"),
        ("ko", "삭제해줘", "delete"),
        # Articles and prepositions before one.
        ("ar", "والملفات", "file"),
        ("ar", "للمستخدم", "user"),
        ("ar", "بالصورة", "image"),
        ("it", "dell'utente", "user"),
        ("fr", "l'équipe", "team"),
    ],
)
def test_a_word_is_understood_in_forms_that_no_dictionary_has(
    code: str, text: str, expected: str
) -> None:
    assert english(code, text) == [expected]


@pytest.mark.parametrize(
    ("code", "text", "expected"),
    [
        ("vi", "tạo", "create"),
        ("vi", "tao", ""),
        ("vi", "tải xuống", "download"),
        ("vi", "cài", "install"),
        ("vi", "cái", ""),
        ("vi", "mời người dùng", "invite user"),
        ("vi", "mới", "new"),
        ("pt", "nó", "node"),
        ("pt", "no", ""),
        ("sv", "år", "year"),
        ("sv", "är", ""),
        ("pl", "zadanie", "task"),
        ("pl", "żądanie", "request"),
        ("tr", "DOSYAYI SİL", "file delete"),
        ("tr", "işe al", "hire"),
    ],
)
def test_where_accents_are_written_they_tell_words_apart(
    code: str, text: str, expected: str
) -> None:
    assert english(code, text) == expected.split()


@pytest.mark.parametrize(
    ("code", "text", "expected"),
    [
        ("es", "no leído", "unread"),
        ("it", "non letto", "unread"),
        ("ru", "не в сети", "offline"),
        ("id", "tidak aktif", "inactive"),
        ("vi", "tải lên", "upload"),
        ("ko", "할 일", "to-do"),
        ("uk", "ім'я", "name"),
        ("de", "noch einmal", "retry"),
    ],
)
def test_a_phrase_means_what_it_means_though_it_begins_with_a_function_word(
    code: str, text: str, expected: str
) -> None:
    assert english(code, text) == [expected]


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("vi", "vui lòng"),
        ("vi", "làm ơn"),
        ("vi", "bạn có thể"),
        ("fr", "s'il te plaît"),
        ("cs", "prosím tě"),
        ("uk", "будь ласка"),
        ("id", "terima kasih"),
        ("es", "por favor"),
        ("ja", "お願いします"),
        ("ko", "해 주세요"),
        ("zh", "请帮我"),
    ],
)
def test_politeness_says_nothing_about_a_need(code: str, text: str) -> None:
    assert glosses(code, text) == []


@pytest.mark.parametrize("code", FOREIGN)
def test_the_name_of_a_product_that_tools_have_survives(code: str) -> None:
    for name in NAMES:
        assert english(code, name.title(), *NAMES) == [name]


def test_unknown_words_numbers_and_names_mean_themselves_as_they_were_said() -> None:
    assert glosses("de", "Datei Zürchmüxl 42") == [
        Gloss("datei", ("file",)),
        Gloss("zürchmüxl", ("zurchmuxl",)),
        Gloss("42", ("42",)),
    ]
    assert [gloss.is_translated for gloss in glosses("de", "Datei Zürchmüxl")] == [True, False]
    assert [gloss.said for gloss in glosses("ru", "файл")] == ["файл"]
    assert [gloss.said for gloss in glosses("ko", "파일을")] == ["파일을"]
    assert [gloss.said for gloss in glosses("ja", "データ")] == ["データ"]


def test_a_run_of_characters_is_cut_at_the_words_that_are_known() -> None:
    assert english("zh", "删除张伟的文件") == ["delete", "张伟", "file"]
    assert english("ja", "リスト・ファイル、日々") == ["list", "file", "daily"]
    assert english("zh", "用github创建issue", "github", "issue") == ["github", "create", "issue"]


def test_what_a_word_may_stand_for_has_the_likeliest_first_and_an_end() -> None:
    ((said, meant),) = [(gloss.said, gloss.meant) for gloss in glosses("es", "crear")]
    assert (said, meant[0]) == ("crear", "create")
    assert all(len(gloss.meant) <= 4 for gloss in glosses("zh", "设置删除新建查看"))


def test_words_known_as_english_outweigh_words_that_look_foreign() -> None:
    known = {"die", "con", "note"}
    assert spoken("die con note", is_english=known.__contains__) is None
    assert spoken("die con note", is_english=nobody)
    # In doubt, too.
    assert spoken("die note", is_english={"note"}.__contains__) is None


def test_a_number_is_of_no_language() -> None:
    for text in ("rechne 19 von 1 249 aus", "19 1 249"):
        found = spoken(text, is_english=str.isdigit)
        assert (found.code if found else None) == ("de" if "von" in text else None)


def test_an_english_sentence_may_quote_another_script() -> None:
    assert spoken("send a message to 张伟 on the channel", is_english=nobody) is None
    assert spoken("what is the meaning of привет in English", is_english=nobody) is None
    assert spoken("the file 报告.pdf is for you", is_english=nobody) is None
    found = spoken("把 pull request 合并到 main", is_english=nobody)
    assert found is language("zh")


def test_russian_and_ukrainian_are_told_apart() -> None:
    assert spoken("покажи все сообщения", is_english=nobody) is language("ru")
    assert spoken("покажи всі повідомлення", is_english=nobody) is language("uk")


@pytest.mark.parametrize("text", ["", " ", "!?", "\x00\x01", "\ud800", "🎉🎉", "x" * 10_000])
def test_a_text_without_words_of_any_language_is_taken_for_english(text: str) -> None:
    assert spoken(text, is_english=nobody) is None


@quick(150)
@given(text=any_text | st.text(max_size=60), code=st.sampled_from(FOREIGN))
def test_any_text_at_all_can_be_glossed_in_any_language(text: str, code: str) -> None:
    spoken(text, is_english=nobody)
    for gloss in glosses(code, text):
        assert gloss.said
        assert all(gloss.meant)
        assert 1 <= len(gloss.meant) <= 4


@pytest.mark.parametrize("code", ["de", "ko", "ar", "vi", "zh"])
@pytest.mark.parametrize("word", ["a", "datei", "파", "و", "龘", "ﬃ", "\ufdfa", "e\u0301"])
def test_a_word_of_ten_thousand_letters_is_read_to_its_end(code: str, word: str) -> None:
    assert glosses(code, (word * 10_000)[:10_000])
