//! What only stands for a secret: placeholders, variables, templates, passwords that everybody uses.
//!
//! INVARIANT: values are given in lower case; linear in the value.

/// Parts that a random token does not have.
const PARTS: &[&str] = &[
    "example",
    "changeme",
    "change_me",
    "change-me",
    "placeholder",
    "your_",
    "your-",
    "yourp",
    "yours",
    "yourt",
    "yourk",
    "youra",
    "my_secret",
    "my-secret",
    "dummy",
    "redacted",
    "replace",
    "insert",
    "xxxx",
    "****",
    "....",
    "todo_",
    "fixme",
    "sample",
    "secret_key_here",
    "_here",
    "-here",
    "keyhere",
    "tokenhere",
    "process.env",
    "os.environ",
    "os.getenv",
    "getenv",
    "env.",
    "1234567890",
    "0123456789",
    "abcdefgh",
    "deadbeef",
    "notreal",
    "not_real",
    "not-real",
    "not-a-real",
    "foobar",
    "lorem",
    "_goes_",
    "redact",
    "hidden",
    "masked",
    "removed",
    "omitted",
];

/// Values that standards and libraries print to show how a token looks, in lower case.
const PRINTED: &[&str] = &[
    "ad180jjd733klru7",
    "45ghiukldjahdnhzdauz",
    "askfjh234as9sd8",
    "h480djs93hd8",
    "2yotnfzfejr1zcsicmwpaa",
    "tgzv3jokf0xg5qx2tlkwia",
    "czzcagrsa3f0mz",
    "gx1fbat3bv",
    "7fjfp0zbr1ktdrbnfvdmiw",
    "mf_9.b5f-4.1jqm",
    "splxlobezqqybys6wxsbia",
    "eyjzb21lijoicgf5bg9hzcj9",
    "eyjzdwiioiixmjm0nty3odkwiiwibmftzsi6ikpvag4grg9l",
];

/// Signs of templates and variables.
const TEMPLATES: &[&str] = &["<", "${", "{{", "$(", "%(", "#{", "{%", "<%", "$env", "%s", "%v", "{0}"];

/// Passwords of examples, tests and first starts.
const USUAL: &[&str] = &[
    "password",
    "passwd",
    "pass",
    "passw0rd",
    "password1",
    "password123",
    "pw",
    "pwd",
    "secret",
    "secret123",
    "mysecret",
    "mypassword",
    "mypass",
    "test",
    "testing",
    "test123",
    "test1234",
    "testpass",
    "testpassword",
    "admin",
    "admin123",
    "root",
    "toor",
    "user",
    "username",
    "guest",
    "demo",
    "default",
    "letmein",
    "qwerty",
    "123456",
    "12345678",
    "123456789",
    "1234",
    "12345",
    "postgres",
    "postgresql",
    "mysql",
    "mongo",
    "mongodb",
    "redis",
    "rabbitmq",
    "minio",
    "minioadmin",
    "elastic",
    "neo4j",
    "tiger",
    "scott",
    "hunter2",
    "foo",
    "bar",
    "baz",
    "abc",
    "abc123",
    "token",
    "key",
    "apikey",
    "api_key",
    "api-key",
    "x",
    "xx",
    "xxx",
    "none",
    "null",
    "nil",
    "true",
    "false",
    "string",
    "value",
    "hello",
    "world",
    "s3cr3t",
    "p@ssw0rd",
    "p@ssword",
    "supersecret",
    "topsecret",
    "changeit",
    "docker",
    "dev",
    "development",
    "local",
    "app",
    "p",
    "pa55word",
    "correct-horse",
    "correcthorsebatterystaple",
    "opensesame",
    "open sesame",
    "credentials",
    "bearer",
    "oauth2",
    "x-oauth-basic",
];

/// Hosts of examples that say so themselves.
const NAMES: &[&str] =
    &["host", "hostname", "server", "myserver", "myhost", "yourhost", "your-host", "proxyhost", "somehost"];

/// Whether the value only stands for one.
pub(super) fn is(lower: &str) -> bool {
    PARTS.iter().chain(PRINTED).any(|part| lower.contains(part))
        || is_template(lower)
        || is_one_character(lower)
}

/// Whether something is put into the value before it is used.
pub(super) fn is_template(value: &str) -> bool {
    TEMPLATES.iter().any(|part| value.contains(part))
        || value.starts_with('$')
        || value.contains('{') && value.contains('}')
}

/// Whether everybody uses the password.
pub(super) fn is_usual(lower: &str) -> bool {
    USUAL.contains(&lower)
}

/// Whether a host is only the word for one.
pub(super) fn is_name(host: &str) -> bool {
    NAMES.contains(&host.split([':', '/', '?']).next().unwrap_or_default())
}

/// Whether the letters and digits of the value are mainly one.
fn is_one_character(value: &str) -> bool {
    let mut counts = [0_usize; 256];
    for byte in value.bytes().filter(u8::is_ascii_alphanumeric) {
        if let Some(count) = counts.get_mut(usize::from(byte)) {
            *count += 1;
        }
    }
    let (most, all) = (counts.iter().max().copied().unwrap_or(0), counts.iter().sum::<usize>());
    all >= 8 && most * 5 > all * 3
}
