import fc from 'fast-check';

/**
 * Strings that have caused trouble before: quotes of every language, separators, directions, patterns, names of
 * properties.
 */
const INFAMOUS = [
  '',
  ' ',
  '\u0000',
  '\u001b[31m',
  '\ud800',
  'a\udc00b',
  '\ufeff',
  '\u202e',
  '\u2028',
  "' OR 1=1 --",
  '"; DROP TABLE messaging_message; --',
  '<script>alert(1)</script>',
  // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the text that is wanted.
  '${jndi:ldap://x}',
  '{number}',
  '{field} $& $1',
  '%00',
  '%s%n',
  '../../etc/passwd',
  'x\r\nSet-Cookie: a=b',
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  'then',
  'toJSON',
  'NaN',
  '1e999',
  '+22670000000',
  '٢٢٦٧٠٠٠٠٠٠٠',
];

/** Any UTF-16, including half surrogate pairs. */
const utf16 = fc.string({ unit: fc.nat(0xffff).map((unit) => String.fromCharCode(unit)), maxLength: 400 });

export const hostileString = fc.oneof(
  fc.constantFrom(...INFAMOUS),
  fc.string(),
  utf16,
  fc.string({ unit: 'grapheme' }),
);

const fieldName = fc.oneof(
  fc.constantFrom(
    'signature',
    'content',
    'number',
    'limit',
    '__proto__',
    'constructor',
    'length',
    'toJSON',
    'then',
    '',
  ),
  fc.string(),
);

/** Any JSON value, with the names of our fields and of properties that every object has. */
export const anyJson: fc.Arbitrary<unknown> = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 5, depthSize: 'small' },
    fc.oneof(
      hostileString,
      fc.double(),
      fc.integer(),
      fc.boolean(),
      fc.constant(null),
      fc.constantFrom(1e308, -0, 2 ** 53, 22670000000),
    ),
    fc.array(tie('value'), { maxLength: 5 }),
    fc.array(fc.tuple(fieldName, tie('value')), { maxLength: 6 }).map(ownProperties),
  ),
})).value;

const goodNumber = fc.constantFrom('22670000000', '22670000001', '33612345678', '221771234567', '22670990001');
const goodContent = fc.oneof(
  fc.constantFrom('Bonjour', 'Fête 🎉', '€[]', 'a'.repeat(161)),
  fc.string({ unit: 'grapheme', minLength: 1, maxLength: 300 }),
);

/** A good value most of the time, so that later checks are reached too. */
const mostly = <T>(good: fc.Arbitrary<T>): fc.Arbitrary<unknown> =>
  fc.oneof({ weight: 5, arbitrary: good }, { weight: 1, arbitrary: hostileString }, { weight: 1, arbitrary: anyJson });

/** A body of a send with something wrong here and there, or nothing. */
export const almostSend: fc.Arbitrary<unknown> = fc
  .tuple(
    fc.record(
      {
        signature: mostly(fc.constantFrom('INFOS', 'ALERTE', 'SERVICE')),
        content: mostly(goodContent),
        number: fc.oneof(
          { weight: 6, arbitrary: fc.array(goodNumber, { minLength: 1, maxLength: 6 }) },
          { weight: 1, arbitrary: fc.array(mostly(goodNumber), { maxLength: 4 }) },
          { weight: 1, arbitrary: anyJson },
        ),
        metadata: mostly(fc.dictionary(fieldName, fc.oneof(fc.string(), hostileString), { maxKeys: 17 })),
      },
      { requiredKeys: [] },
    ),
    fc.oneof({ weight: 3, arbitrary: fc.constant({}) }, { weight: 1, arbitrary: fc.dictionary(fieldName, anyJson) }),
  )
  .map(([fields, more]) => ({ ...more, ...fields }));

/** JSON that no JSON.stringify writes: numbers beyond all limits, names given twice, a prototype, many levels. */
export const oddJson: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(
    '{"signature":1e999,"content":-1e999,"number":[1e999]}',
    '{"signature":"INFOS","signature":5,"content":"x","number":["22670000000"]}',
    '{"signature":"INFOS","content":"x","number":["22670000000"],"__proto__":{"content":5,"number":[]}}',
    '{"__proto__":{"signature":"INFOS","content":"x","number":["22670000000"]}}',
    '{"signature":"INFOS","content":"x","number":[22670000000000000000000000000000000000000]}',
    '{"signature":"INFOS","content":"x","number":{"0":"22670000000","length":1}}',
    '\ufeff{"signature":"INFOS","content":"x","number":["22670000000"]}',
    '{"signature":"INFOS","content":"x","number":["22670000000"],}',
    "{'signature':'INFOS'}",
    'NaN',
    '-',
    '"\\ud800"',
    '{"content":"\\u00',
  ),
  fc
    .tuple(fc.integer({ min: 1, max: 500 }), fc.constantFrom('signature', 'content', 'number', 'deep'), fc.boolean())
    .map(([levels, field, list]) => {
      const [open, close] = list ? ['[', ']'] : ['{"a":', '}'];
      const deep = `${open.repeat(levels)}1${close.repeat(levels)}`;
      const good = '"signature":"INFOS","content":"x","number":["22670000000"]';
      return `{${good},"${field}":${deep}}`;
    }),
);

/** Bytes that begin like JSON, or like nothing. */
export const bytes: fc.Arbitrary<Uint8Array> = fc
  .tuple(fc.constantFrom('', '{', '{"content":"', '[', '{"number":["2267'), fc.uint8Array({ maxLength: 300 }))
  .map(([start, rest]) => Buffer.concat([Buffer.from(start), rest]));

export const contentType = fc.oneof(
  { weight: 6, arbitrary: fc.constant('application/json') },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      'application/json; charset=utf-8',
      'application/json; charset=latin1',
      'APPLICATION/JSON',
      'application/jsonp',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
      'multipart/form-data',
      'text/plain',
      'application/octet-stream',
      '',
      ';',
      'application/json; charset="',
    ),
  },
);

/** A query string as it appears in a request line. */
export const queryString: fc.Arbitrary<string> = fc
  .array(
    fc.tuple(
      fc.oneof(
        { weight: 4, arbitrary: fc.constantFrom('limit', 'cursor', 'metadata.a', 'metadata.') },
        {
          weight: 1,
          arbitrary: fc.constantFrom(
            'limit[]',
            'limit[a]',
            'cursor[]',
            '__proto__',
            '__proto__[x]',
            'metadata',
            'metadata[a]',
            'metadata.__proto__',
            '%FF',
            '',
          ),
        },
      ),
      fc.oneof(
        fc.integer().map(String),
        fc.constantFrom('1', '500', '0', '501', '%00', '%FF', '%', '%ZZ', '%ED%A0%80', '1e2', '0x10', '٣', '1&limit=2'),
        fc.uint8Array({ maxLength: 60 }).map((raw) => Buffer.from(raw).toString('base64url')),
        hostileString.map((text) => encodeURIComponent(Buffer.from(text).toString())),
      ),
      fc.constantFrom('=', '=', '=', ''),
    ),
    { maxLength: 5 },
  )
  .map((pairs) => pairs.map(([name, value, equals]) => `${name}${equals}${value}`).join('&'));

/** Like JSON.parse: `__proto__` becomes a property like any other. */
function ownProperties(pairs: [string, unknown][]): object {
  return Object.fromEntries(pairs);
}
