r"""Kinds of JSON values, and of invalid JSON, for a field that the service does not read.

The kinds are from Nicolas Seriot's survey of JSON parsers: values that the grammar of RFC 8259 allows, text that the
grammar does not allow, and values for which the parser may decide. Of the third kind, the service accepts values that
are UTF-8 and not nested too deeply.
"""


def _kinds(table: bytes) -> list[bytes]:
    return [kind for line in table.split(b"\n") if line.strip() for kind in line.strip().split(b" ~ ")]


def _texts(texts: list[bytes]) -> list[bytes]:
    return [b'"%b"' % text for text in texts]


_LONG = b"7" * 4301
_LONE = [
    *(b"\xc3\xa9\\ud800", b"\\ud800" * 99),
    *_kinds(rb"""
    \ud800 ~ \uDFFF ~ \uDADA ~ \uD888\u1234 ~ \uD800\n ~ \uD800\uD800\n ~ \ud800abc ~ \uDd1e\uD834 ~ \uDd1ea ~ \\\ud800
    \ud800\\ ~ \"\ud800
    """),
]

JSON = [
    *(b"[1\n]", b"\t[\r\n]\n", b'{\n"a": 1\n}', b"0." + b"0" * 60 + b"1", b'"%b"' % (b"x" * 5000)),
    *_kinds(rb"""
    null ~ true ~ false ~ 0 ~ -0 ~ 7 ~ -7 ~ 1.5 ~ -1.5 ~ 3e5 ~ 3E5 ~ 3e+5 ~ 3e-5 ~ 0e0 ~ 2.25e7 ~ 2.25E-7 ~ 2.25E+7
    -0.0 ~ [] ~ {} ~ "" ~ {"": 0} ~ [ 1 ] ~ [null, 1, "1", {}] ~ [1,null,null,2] ~ {"a": [], "b": {"c": null}}
    {"a": 1, "a": 2} ~ {"a": 1, "a": 1} ~ {"a\u0000b": 1} ~ {"min": -1.0e+28, "max": 1.0e+28} ~ {"\u041f": "\u0438"}
    """),
    *_texts([text.encode() for text in " \x7fé€😀\u2028\u2029\u00a0\U0001bfff\U0010ffff"]),
    *_texts(
        _kinds(rb"""
    a ~ /* no comment */ ~ \\n ~ \\a ~ \\ud800 ~ \\ ~ \/ ~ \b\f\n\r\t ~ \" ~ \u0000 ~ \u0012 ~ \u0022 ~ \u005C ~ \u00a0
    \u200B ~ \u2064 ~ \uFDD0 ~ \uFFFE ~ \uffff ~ \ud83d\ude00 ~ \uD83D\uDE39\uD83D\uDC8D ~ \uDBFF\uDFFF ~ \uD83F\uDFFE
    \u0061\u30af ~ x\u000Ay
    """)
    ),
]
LEFT_TO_THE_PARSER = [
    *_texts(_LONE),
    *(b'{"%b" \n: {"%b": 1}}' % (text, text) for text in _LONE[-4:]),
    *(_LONG, b"-" + _LONG, _LONG + b".5", _LONG + b"e-5", b"[%b ,\n-%b]" % (_LONG, _LONG), b'{"a":%b}' % _LONG),
    *(b'[%b, "\\ud800"]' % _LONG, b'"%b"' % _LONG, _LONG[1:], b"1." + _LONG, b"1e" + _LONG, b"1e-" + _LONG),
    *(b"9" * 30, b"0.4e" + b"9" * 60),
    *_kinds(rb"-9999e9 ~ -1e9999 ~ 1.5e+9999 ~ 123.4e-789 ~ 12e100000 ~ 12e-10000000"),
    *(b"[" * 200 + b"]" * 200, b"[" * 199 + b'"\\ud800"' + b"]" * 199),  # the deepest that an event may contain
]
NO_JSON = [
    *(b"", b" ", b"1\x00", b"[\x00]", b"[\x0c]", b"[\x0b]", b"\xf0\x9f\x98\x80", b"\xc3\xa5", b"[\xe2\x81\xa0]"),
    *(b"\xef\xbc\x91", b"\xef\xbb\xbf1", b"[\xef\xbb\xbf]"),
    *_kinds(rb"""
    [1 2] ~ [1:2] ~ ["a": 1] ~ [1], ~ [,1] ~ [1,,2] ~ [1,] ~ [1,,] ~ [,] ~ [1]] ~ [1 ~ [1, ~ [ ~ ] ~ 1] ~ [][] ~ [3[4]]
    [x ~ [*] ~ * ~ [1]x ~ 2@ ~ <.> ~ [<null>] ~ { ~ {] ~ {[ ~ {, ~ {"a ~ {"a" ~ {"a": ~ {"a" 1} ~ {"a", 1} ~ {:1}
    {"a"::1} ~ {a: 1} ~ {'a': 1} ~ {1:1} ~ {9E9:1} ~ {null:1} ~ {"a":1,} ~ {"a":1,,"b":2} ~ {"a":1,"b"} ~ {"a":1 2}
    {"a":1}} ~ {"a":1}# ~ {"a":1}// ~ {"a":1}/**/ ~ {"a":/**/1} ~ {[:1} ~ tru ~ fals ~ nul ~ [nul] ~ True ~ NULL
    undefined ~ [truth] ~ abc ~ 'a' ~ \n ~ \u0020 1 ~ \u000A"" ~ ""x

    - ~ + ~ +1 ~ ++1 ~ -01 ~ 012 ~ 1 000 ~ 1_000 ~ 1,000.0e ~ .5 ~ -.5 ~ .-1 ~ 1. ~ -2. ~ 2.e3 ~ 0.1.2 ~ -1.0. ~ 0.e1
    1e ~ 1E ~ 1e+ ~ 1.0e- ~ 1ea ~ 1eE2 ~ 0e+-1 ~ - 1 ~ 1+2 ~ 0x1 ~ 0x42 ~ 1a ~ -1x ~ -foo ~ 1.2a-3 ~ 1.8H-308 ~ 1 x
    NaN ~ -NaN ~ Infinity ~ -Infinity ~ Inf ~ +Inf ~ nan ~ [NaN] ~ {"a": -Infinity}

    " ~ "a ~ "\ ~ "\" ~ "\\\" ~ "\x00" ~ "\a" ~ "\u00A" ~ "\uqqqq" ~ "\u 123" ~ "\UA66D" ~ "\u+123" ~ "\u00_0"
    "\uD800\" ~ "\uD800\u" ~ "\uD800\u1" ~ "\uD800\u1x" ~ "\uD834\uDd" ~ "\uD800\uD800\x" ~ "\ud800 ~ "a" \ud800 "b"
    "\ud800" 1 ~ ["\ud800",] ~ {"\ud800"} ~ "\ud800": 1 ~ 7"\ud800" ~ "\ud800"7 ~ [NaN, "\ud800"]
    """),
    *(b"0" + _LONG, b"+" + _LONG, b"- " + _LONG, _LONG + b".", _LONG + b"e", _LONG + b"x", _LONG + b" 1", _LONG + b"-"),
    *(b"[%b, Infinity]" % _LONG, b"[%b,]" % _LONG, b'"%b\n"' % _LONG),
    *_texts([b"\n", b"\t", b"a\x00a", b"\x1f", b"\\\x00", b"\\\t", b"\\\xf0\x9f\x98\x80", b"\\ud800\n"]),
]
NO_UTF_8 = [
    *(b"1\xe5", b"1e1\xe5", b"0\xe5", b"1e\xe5", b'{"\xb9": 1}', b"\xe9", b'"\xc3'),
    *_texts([b"\xff", b"\x81", b"\xe9", b"\xed\xa0\x80", b"\xe0\xff", b"\xc0\xaf", b"\xf4\xbf\xbf\xbf", b"\\u\xe5"]),
    *_texts([b"\xfc\x80\x80\x80\x80\x80", b"\xe6\x97\xa5\xfa", b"\\\xe5", b"\\ud800\xff"]),
    *('"é"'.encode(encoding) for encoding in ("utf-16", "utf-16-le", "utf-16-be", "utf-32")),
]
TOO_DEEP = [
    *(b"[" * 201 + b"]" * 201, b'{"a":' * 201 + b"1" + b"}" * 201, b"[" * 500 + b"]" * 500, b"[" * 100_000),
    *(b'[{"":' * 40_000, b'["\\ud800",' + b"[" * 200 + b"]" * 201, b"[%b," % _LONG + b"[" * 200 + b"]" * 201),
]
ACCEPTED = [*JSON, *LEFT_TO_THE_PARSER]
REFUSED = [*NO_JSON, *NO_UTF_8, *TOO_DEEP]


def with_unread(event: bytes, value: bytes) -> bytes:
    """Returns `event` with a further field, which the service does not read."""
    return event[:-1] + b',"unread":' + value + b"}"
