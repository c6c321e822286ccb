import { brotliCompressSync, gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { CallbackContent } from '../../../../src/transports/http/callback-content.js';
import { UnknownContentCharsetError, UnreadableContentError } from '../../../../src/transports/http/callback-fields.js';
import { valueAt } from '../../../../src/transports/http/json-values.js';
import type { VendorCallback } from '../../../../src/transports/http/vendor.js';
import { generic } from '../../../../src/transports/http/vendors/generic.js';
import { closeAfterEach } from '../../../support/common/opened.js';
import { CALLBACK_SECRET, DOUBLES, GatewayFixture } from '../../../support/transports/gateway/gateway-fixture.js';
import { genericDouble } from '../../../support/transports/gateway/generic-double.js';

const opened = closeAfterEach();

const logged: string[] = [];
const write = (line: unknown) => void logged.push(String(line));
beforeEach(() => {
  logged.length = 0;
  Logger.overrideLogger({ log: write, warn: write, error: write });
});
afterEach(() => Logger.overrideLogger(false));

const FORM = 'application/x-www-form-urlencoded';
const URL = 'https://sms.example.org/callbacks/acme';
const latin1 = (text: string) => Buffer.from(text, 'latin1');
const utf16le = (text: string) => Buffer.from(text, 'utf16le');
const utf16be = (text: string) => Buffer.from(text, 'utf16le').swap16();
/** The bytes as a form writes them. */
const escaped = (bytes: Buffer) => [...bytes].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('');

function contentOf(
  contentType: string | undefined,
  body: string | Buffer,
  {
    charset,
    method = 'POST',
    query = '',
    encoding,
  }: {
    readonly charset?: VendorCallback['charset'];
    readonly method?: string;
    readonly query?: string;
    readonly encoding?: string;
  } = {},
) {
  const headers = { 'content-type': contentType, 'content-encoding': encoding };
  return new CallbackContent({ method, url: `${URL}${query}`, headers, body: Buffer.from(body) }, { charset });
}

describe('JSON is read in its own encoding', () => {
  const body = '{"text":"ARRÊT","id":5}';
  test.each<[string, string | undefined, string | Buffer]>([
    ['as JSON', 'application/json', body],
    ['with a charset', 'application/json; charset=UTF-8', body],
    ['with a quoted charset', 'Application/JSON;Charset="utf-8"', body],
    ['as a JSON type of a vendor', 'application/vnd.acme.sms+json', body],
    ['as text/json', 'text/json', body],
    ['as text/plain', 'text/plain', body],
    ['as text/plain with a charset', 'text/plain; charset=utf-8', body],
    ['without a type', undefined, body],
    ['with an empty type', '', body],
    ['as bytes', 'application/octet-stream', body],
    ['as a form, which is the default of many clients', FORM, body],
    ['as HTML', 'text/html', body],
    ['with white space around it', 'text/plain', `\r\n ${body} \r\n`],
    ['with a byte order mark', 'application/json', `\ufeff${body}`],
    ['in UTF-16 with a mark', 'application/json', utf16le(`\ufeff${body}`)],
    ['in UTF-16BE with a mark', 'application/json', utf16be(`\ufeff${body}`)],
    ['in UTF-16LE', 'application/json', utf16le(body)],
    ['in UTF-16BE', undefined, utf16be(body)],
    ['in UTF-16, named', 'application/json; charset=utf-16', utf16le(body)],
    ['in ISO-8859-1, named', 'application/json; charset=ISO-8859-1', latin1(body)],
    ['in windows-1252, named', 'text/plain; charset=windows-1252', latin1(body)],
  ])('%s', (_, type, bytes) => {
    const content = contentOf(type, bytes);
    expect(content.field('text')).toBe('ARRÊT');
    expect(content.field('id')).toBe('5');
    expect(valueAt(content.json, 'text')).toBe('ARRÊT');
    expect(content.text.trim()).toBe(body);
    expect(content.isForm).toBe(false);
  });
});

describe('a form is read in the charset that it names', () => {
  test.each<[string, string | undefined, string, VendorCallback['charset']]>([
    ['UTF-8 without a declaration', FORM, 'text=ARR%C3%8AT&id=5', {}],
    ['ISO-8859-1', `${FORM}; charset=ISO-8859-1`, 'text=ARR%CAT&id=5', {}],
    ['latin1', `${FORM};charset="latin1"`, 'text=ARR%CAT&id=5', {}],
    ['windows-1252', `${FORM}; charset=Windows-1252`, 'text=ARR%caT&id=5', {}],
    ['ISO-8859-15', `${FORM}; charset=iso-8859-15`, 'text=ARR%CAT&id=5', {}],
    ['the name of Java', `${FORM}; charset=ISO8859_1`, 'text=ARR%CAT&id=5', {}],
    ['the name of Python', `${FORM}; charset=latin-1`, 'text=ARR%CAT&id=5', {}],
    ['the name of a code page', `${FORM}; charset=cp1252`, 'text=ARR%CAT&id=5', {}],
    ['ANSI', `${FORM}; charset=ANSI`, 'text=ARR%CAT&id=5', {}],
    ['single quotes', `${FORM}; charset='iso_8859-1'`, 'text=ARR%CAT&id=5', {}],
    ['UTF-8 as MySQL names it', `${FORM}; charset=utf8mb4`, 'text=ARR%C3%8AT&id=5', {}],
    ['ASCII that is UTF-8', `${FORM}; charset=us-ascii`, 'text=ARR%C3%8AT&id=5', {}],
    ['ASCII of the locale C', `${FORM}; charset=ANSI_X3.4-1968`, 'text=ARR%C3%8AT&id=5', {}],
    ['ASCII that is windows-1252', `${FORM}; charset=ascii`, 'text=ARR%CAT&id=5', {}],
    ['none', `${FORM}; charset=none`, 'text=ARR%C3%8AT&id=5', {}],
    ['a line end after it', FORM, 'text=ARR%C3%8AT&id=5\r\n', {}],
    ['separators of HTML', FORM, 'text=ARR%C3%8AT&amp;id=5', {}],
    ['an old charset of Macs', `${FORM}; charset=macintosh`, 'text=ARR%E6T&id=5', {}],
    ['_charset_', FORM, '_charset_=iso-8859-1&text=ARR%CAT&id=5', {}],
    ['_charset_ after the text', FORM, 'text=ARR%CAT&id=5&_charset_=iso-8859-1', {}],
    ["the vendor's own field", FORM, 'text=ARR%CAT&id=5&charset=ISO-8859-1', { field: 'charset' }],
    ['its field against the type', `${FORM}; charset=utf-8`, 'text=ARR%CAT&id=5&cs=latin1', { field: 'cs' }],
    ['the fallback', FORM, 'text=ARR%CAT&id=5', { fallback: 'ISO-8859-1' }],
    ['UTF-8 against the fallback', `${FORM}; charset=utf-8`, 'text=ARR%C3%8AT&id=5', { fallback: 'ISO-8859-1' }],
    [
      'UTF-16BE in one field',
      FORM,
      `text=${escaped(utf16be('ARRÊT'))}&id=5&charset=UTF-16BE`,
      { field: 'charset', of: ['text'] },
    ],
    ['UTF-16BE', FORM, `text=${escaped(utf16be('ARRÊT'))}&id=5&charset=UTF-16BE`, { field: 'charset' }],
    ['UTF-16LE', FORM, `text=${escaped(utf16le('ARRÊT'))}&id=5&charset=UTF-16LE`, { field: 'charset' }],
    ['UTF-16', FORM, `text=${escaped(utf16be('ARRÊT'))}&id=5&charset=UTF-16`, { field: 'charset' }],
    ['a wrong type', 'text/plain', 'text=ARR%C3%8AT&id=5', {}],
    ['a wrong type with a charset', 'text/plain; charset=latin1', 'text=ARR%CAT&id=5', {}],
    ['JSON, which it is not', 'application/json', 'text=ARR%C3%8AT&id=5', {}],
    ['no type', undefined, 'text=ARR%C3%8AT&id=5', {}],
    ['raw bytes', `${FORM}; charset=latin1`, 'text=ARRÊT&id=5', {}],
  ])('%s', (_, type, body, charset) => {
    const content = contentOf(type, latin1(body), { charset });
    expect(content.field('text')).toBe('ARRÊT');
    expect(content.field('id')).toBe('5');
    expect(content.isForm).toBe(true);
  });

  test.each<[string, string, VendorCallback['charset']]>([
    ['UTF-8', '?text=ARR%C3%8AT&id=5', {}],
    ['_charset_', '?text=ARR%CAT&id=5&_charset_=latin1', {}],
    ["Kannel's charset", '?text=ARR%CAT&id=5&charset=ISO-8859-1', { field: 'charset' }],
    [
      "Kannel's UTF-16BE",
      `?text=${escaped(utf16be('ARRÊT'))}&id=5&charset=UTF-16BE`,
      { field: 'charset', of: ['text'] },
    ],
    ['the fallback', '?text=ARR%CAT&id=5', { fallback: 'latin1' }],
    ['raw bytes', '?text=ARRÊT&id=5', { fallback: 'latin1' }],
  ])('the query of a GET: %s', (_, query, charset) => {
    const content = contentOf(undefined, '', { method: 'GET', query, charset });
    expect(content.field('text')).toBe('ARRÊT');
    expect(content.query.get('text')).toBe('ARRÊT');
    expect(content.field('id')).toBe('5');
  });

  test('a POST has its query too', () => {
    const content = contentOf(FORM, '', { query: '?text=ARR%CAT', charset: { fallback: 'latin1' } });
    expect(content.query.get('text')).toBe('ARRÊT');
    expect(content.field('text')).toBeUndefined();
  });

  test('UTF-16 with letters that look like ASCII is read if the vendor names the field', () => {
    // U+4E2D has the bytes of "N-".
    const charset = { field: 'charset', of: ['text'] };
    expect(contentOf(FORM, 'text=N-&id=12&charset=UTF-16BE', { charset }).field('text')).toBe('中');
    expect(contentOf(FORM, 'text=N-&id=12&charset=UTF-16BE', { charset }).field('id')).toBe('12');
  });

  test('the euro sign and the quotes of windows-1252 are read', () => {
    const content = contentOf(`${FORM}; charset=windows-1252`, 'text=%80+%93a%94');
    expect(content.field('text')).toBe('€ “a”');
    // Browsers read ISO-8859-1 in the same way.
    expect(contentOf(`${FORM}; charset=ISO-8859-1`, 'text=%80').field('text')).toBe('€');
  });

  test('like any form', () => {
    const content = contentOf(FORM, 'a=1+2&b&=x&a=%2B%3D%26&c=%zz%&&d=a=b');
    expect([...content.form]).toEqual([...new URLSearchParams('a=1+2&b&=x&a=%2B%3D%26&c=%zz%&&d=a=b')]);
  });
});

describe('multipart/form-data', () => {
  const part = (head: string, value: string, line = '\r\n') => `--XyZ${line}${head}${line}${line}${value}${line}`;
  const field = (name: string, value: string) => part(`Content-Disposition: form-data; name="${name}"`, value);
  const type = 'multipart/form-data; boundary=XyZ';
  const text = 'STOP & fini = été --XyZ is not at the beginning of a line';

  test.each<[string, string, Buffer]>([
    ['as browsers send it', type, Buffer.from(`${field('text', text)}${field('id', '5')}--XyZ--\r\n`)],
    [
      'with a preamble and an end',
      type,
      Buffer.from(`ignored\r\n${field('text', text)}${field('id', '5')}--XyZ--\r\nignored`),
    ],
    [
      'with a quoted boundary',
      'multipart/form-data; boundary="XyZ"',
      Buffer.from(`${field('text', text)}${field('id', '5')}--XyZ--`),
    ],
    [
      'with bare line feeds',
      type,
      Buffer.from(
        `${part('content-disposition: form-data; name=text', text, '\n')}${part('content-disposition:form-data;name="id"', '5', '\n')}--XyZ--\n`,
      ),
    ],
    [
      'with a charset of a part',
      type,
      latin1(
        `${part('Content-Type: text/plain; charset=ISO-8859-1\r\nContent-Disposition: form-data; name="text"', text)}${field('id', '5')}--XyZ--`,
      ),
    ],
    ['with _charset_', type, latin1(`${field('text', text)}${field('_charset_', 'latin1')}${field('id', '5')}--XyZ--`)],
    [
      'with a file, which is left out',
      type,
      Buffer.concat([
        Buffer.from(`${field('text', text)}`),
        Buffer.from('--XyZ\r\nContent-Disposition: form-data; name="text"; filename="a.png"\r\n\r\n'),
        Buffer.from([0xff, 0xfe, 0xca]),
        Buffer.from(`\r\n${field('id', '5')}--XyZ--`),
      ]),
    ],
  ])('%s', (_, contentType, body) => {
    const content = contentOf(contentType, body);
    expect(content.field('text')).toBe(text);
    expect(content.field('id')).toBe('5');
    expect(content.form.getAll('text')).toEqual([text]);
    expect(content.isForm).toBe(false);
  });

  test.each([
    ['no boundary', 'multipart/form-data', `${field('a', 'b')}--XyZ--`],
    ['no end', type, field('a', 'b')],
    ['nothing', type, ''],
    ['no name', type, `${part('Content-Disposition: form-data', 'b')}--XyZ--`],
    ['no head', type, '--XyZ\r\nvalue\r\n--XyZ--'],
    [
      'base64',
      type,
      `${part('Content-Disposition: form-data; name="a"\r\nContent-Transfer-Encoding: base64', 'YQ==')}--XyZ--`,
    ],
    ['bytes that are not UTF-8', type, latin1(`${field('a', 'é')}--XyZ--`)],
    ['1001 fields', type, `${field('a', 'b').repeat(1002)}--XyZ--`],
  ])('with %s cannot be read', (_, contentType, body) => {
    expect(() => contentOf(contentType, body).form).toThrow(UnreadableContentError);
  });
});

describe('the text for vendors that parse it themselves', () => {
  const xml = (declaration = '') => `${declaration}<sms><text>ARRÊT</text></sms>`;
  const declared = (encoding: string) => xml(`<?xml version="1.0" encoding="${encoding}"?>`);
  test.each<[string, string | undefined, string | Buffer]>([
    ['XML', 'text/xml', xml()],
    ['XML as an application', 'application/xml; charset=utf-8', xml()],
    ['XML of a vendor', 'application/soap+xml', xml()],
    ['XML without a type', undefined, declared('UTF-8')],
    ['XML that declares ISO-8859-1', 'application/xml', latin1(declared('ISO-8859-1'))],
    [
      'XML that declares windows-1252, with single quotes',
      'text/xml',
      latin1(declared('windows-1252').replaceAll('"', "'")),
    ],
    [
      'XML whose type names ISO-8859-1, whatever it declares',
      'text/xml; charset=iso-8859-1',
      latin1(declared('UTF-8')),
    ],
    ['XML in UTF-16', 'application/xml', utf16le(`\ufeff${declared('UTF-16')}`)],
    ['XML in UTF-16BE without a mark', 'application/xml', utf16be(declared('UTF-16'))],
    ['XML that declares UTF-16 and is not', 'application/xml', declared('UTF-16')],
    ['XML with a mark', 'application/xml', `\ufeff${declared('UTF-8')}`],
  ])('%s', (_, type, body) => {
    const content = contentOf(type, body);
    expect(content.text).toMatch(/<sms><text>ARRÊT<\/text><\/sms>$/);
    expect(content.text.charCodeAt(0)).toBe('<'.charCodeAt(0));
    expect(() => content.form).toThrow(UnreadableContentError);
    expect(() => content.json).toThrow(UnreadableContentError);
  });

  test('has the type and the bytes as they were sent', () => {
    const content = contentOf('Text/XML; charset=utf-8', '<a/>');
    expect(content.type).toBe('text/xml');
    expect(Buffer.from(content.body).toString()).toBe('<a/>');
  });

  test('an empty body has no field', () => {
    for (const type of ['application/json', 'text/plain', FORM, undefined]) {
      const content = contentOf(type, '');
      expect([content.text, content.json, content.field('a'), [...content.form]]).toEqual([
        '',
        undefined,
        undefined,
        [],
      ]);
    }
  });

  test.each(['UTF-8', 'utf8', 'ISO-8859-1', 'none', 'binary', '8bit', 'identity, utf-8', ''])(
    'a body whose encoding is named %j is not packed',
    (encoding) => {
      expect(contentOf('application/json', '{"a":"b"}', { encoding }).field('a')).toBe('b');
    },
  );

  test.each([
    ['gzip', gzipSync('{"a":"b"}')],
    ['gzip, utf-8', gzipSync('{"a":"b"}')],
    ['br', brotliCompressSync('{"a":"b"}')],
    ['gzip, br', brotliCompressSync(gzipSync('{"a":"b"}'))],
  ])('a packed body is unpacked: %s', (encoding, body) => {
    expect(contentOf('application/json', body, { encoding }).field('a')).toBe('b');
  });

  test.each([
    ['a bomb', 'gzip', gzipSync(Buffer.alloc(2_000_000, ' '))],
    ['a damaged one', 'gzip', gzipSync('{"a":"b"}').subarray(0, 15)],
    ['one in an unknown encoding', 'zippy', Buffer.from('{"a":"b"}')],
  ])('but not %s', (_, encoding, body) => {
    expect(() => contentOf('application/json', body, { encoding }).json).toThrow(UnreadableContentError);
  });
});

describe('content that cannot be read is never guessed', () => {
  test.each<[string, string | undefined, string | Buffer, VendorCallback['charset'], string]>([
    ['a form', `${FORM}; charset=x-none`, 'text=a', {}, 'text'],
    ['UTF-7', `${FORM}; charset=UTF-7`, 'text=a', {}, 'text'],
    ['a field', FORM, 'text=a&charset=cp850', { field: 'charset' }, 'text'],
    ['_charset_', FORM, 'text=a&_charset_=utf-32', {}, 'text'],
    ['JSON', 'application/json; charset=x-none', '{"text":"a"}', {}, 'text'],
    ['XML', 'text/xml', '<?xml version="1.0" encoding="x-none"?><a/>', {}, ''],
  ])('an unknown charset of %s', (_, type, body, charset) => {
    const content = contentOf(type, body, { charset });
    expect(() => content.text.length + (content.field('text')?.length ?? 0)).toThrow(UnknownContentCharsetError);
  });

  test.each<[string, string | undefined, string | Buffer]>([
    ['a form in ISO-8859-1 that names none', FORM, 'text=ARR%CAT'],
    ['a form that names UTF-8', `${FORM}; charset=utf-8`, 'text=ARR%CAT'],
    ['half a character', FORM, 'text=%C3'],
    ['JSON in ISO-8859-1 that names none', 'application/json', latin1('{"text":"é"}')],
    ['half JSON', 'application/json', '{"text":'],
    ['a number', 'application/json', '5x'],
    ['a sentence', 'text/plain', 'it works'],
    ['HTML', 'text/html', '<html>no</html>'],
    ['half UTF-16', 'application/json; charset=utf-16le', Buffer.from([0x7b, 0x00, 0x7d])],
  ])('%s', (_, type, body) => {
    expect(() => contentOf(type, body).field('text')).toThrow(UnreadableContentError);
  });
});

describe('calls', () => {
  const at = `https://sms.example.org/callbacks/acme/${CALLBACK_SECRET}`;
  const secret = { callbackUrl: 'https://sms.example.org/callbacks/acme', callbackSecret: CALLBACK_SECRET };
  const worldOf = async (name: string) => {
    const double = DOUBLES.find((each) => each.name === name);
    if (!double) throw new Error(`no ${name}`);
    return opened(await GatewayFixture.open(double, double.signs ? {} : secret));
  };
  const post = (fixture: GatewayFixture, contentType: string | undefined, body: Buffer) =>
    fixture.call({ headers: contentType === undefined ? {} : { 'content-type': contentType }, body: '' }, at, { body });

  test('a STOP in ISO-8859-1 arrives as it was written', async () => {
    const fixture = await worldOf('africastalking');
    const form = 'id=1&from=%2B22670000001&to=36111&text=ARR%CAT';
    expect((await post(fixture, `${FORM}; charset=ISO-8859-1`, Buffer.from(form))).status).toBe(200);
    expect(fixture.sink.texts).toMatchObject([{ from: '22670000001', text: 'ARRÊT' }]);
  });

  test.each([
    ['text/plain', 'text/plain'],
    ['no type', undefined],
  ])('Infobip may call with %s', async (_, type) => {
    const fixture = await worldOf('infobip');
    const results = [{ messageId: 'i', from: '22670000001', to: '36111', text: 'STOP' }];
    expect((await post(fixture, type, Buffer.from(JSON.stringify({ results })))).status).toBe(200);
    expect(fixture.sink.texts).toMatchObject([{ text: 'STOP' }]);
  });

  test('an unknown charset is answered with 415, and its name is logged once', async () => {
    const fixture = await worldOf('africastalking');
    const body = Buffer.from('id=1&from=%2B22670000001&to=36111&text=ARR%CAT');
    for (let call = 0; call < 3; call++) {
      expect(await post(fixture, `${FORM}; charset=x-none`, body)).toEqual({ status: 415 });
    }
    expect(fixture.sink.texts).toEqual([]);
    expect(logged).toHaveLength(1);
    expect(logged[0]).toMatch(/unknown charset.*x-none/);
  });

  test('bytes that are not in their charset are answered with 400 and logged without the text', async () => {
    const fixture = await worldOf('africastalking');
    const body = Buffer.from('id=1&from=%2B22670000001&to=36111&text=ARR%CAT');
    expect(await post(fixture, FORM, body)).toEqual({ status: 400 });
    expect(fixture.sink.texts).toEqual([]);
    expect(logged).toHaveLength(1);
    expect(logged[0]).not.toMatch(/ARR|70000001/);
  });

  test('a vendor can read XML from the raw body', async () => {
    const read: VendorCallback['read'] = ({ type, text }) => {
      const [, from] = /<from>(\d+)<\/from>/.exec(text) ?? [];
      const [, said] = /<text>([^<]*)<\/text>/.exec(text) ?? [];
      if (type !== 'application/xml' || from === undefined || said === undefined) return undefined;
      return { inbound: [{ from, to: '36111', text: said }] };
    };
    const vendor = (baseUrl: string) => generic({ ...genericDouble.vendor(baseUrl), callback: { read } });
    const fixture = opened(await GatewayFixture.open({ ...genericDouble, vendor }, secret));
    const body = '<?xml version="1.0" encoding="ISO-8859-1"?><sms><from>22670000001</from><text>ARRÊT</text></sms>';
    expect((await post(fixture, 'application/xml', latin1(body))).status).toBe(200);
    expect(fixture.sink.texts).toMatchObject([{ from: '22670000001', text: 'ARRÊT' }]);
    expect((await post(fixture, 'application/xml', latin1(body.replace('8859-1', '8859-99')))).status).toBe(415);
  });
});

describe('the option callback.charset', () => {
  const vendor = (charset: unknown) => ({
    ...genericDouble.vendor('https://sms.example.org'),
    callback: { read: () => undefined, charset },
  });
  test.each([
    [{ field: 'charset', of: ['text'], fallback: 'ISO-8859-1' }, undefined],
    [{ fallback: 'x-none' }, 'Option generic.callback.charset.fallback must be the name of a charset.'],
    [{ of: 'text' }, 'Option generic.callback.charset.of must be a list of names of fields; got "text".'],
    [{ field: '' }, 'Option generic.callback.charset.field must be the name of a field.'],
    [{ name: 'x' }, 'Option generic.callback.charset.name is not known; the known options are field, of, fallback.'],
  ])('%j', (charset, sentence) => {
    const build = () => Reflect.apply(generic, undefined, [vendor(charset)]);
    if (sentence === undefined) expect(build).not.toThrow();
    else expect(build).toThrow(sentence);
  });
});
