import { describe, expect, test } from '@jest/globals';
import { fileNameOf } from '../../../src/media/file-name.js';

const url = (path: string) => new URL(path, 'https://files.example/');
const named = (disposition: string) => fileNameOf(disposition, url('/of/the-path.bin'));

describe('the name in Content-Disposition', () => {
  test.each<[string, string | undefined]>([
    ['attachment; filename="a b.pdf"', 'a b.pdf'],
    ['attachment; filename=a.pdf', 'a.pdf'],
    ['attachment;FileName = a.pdf ; x=y', 'a.pdf'],
    ['attachment; filename=my file.pdf', 'my file.pdf'],
    ['inline; x="; filename=evil.exe"; filename="good.pdf"', 'good.pdf'],
    ['attachment; filename="a\\"b;c.pdf"', 'a"b;c.pdf'],
    ["attachment; filename=fallback.txt; filename*=UTF-8''%e2%82%ac%20rates.txt", '€ rates.txt'],
    ["attachment; filename*=utf-8'fr'r%C3%A9sum%C3%A9.pdf; filename=x", 'résumé.pdf'],
    ["attachment; filename*=ISO-8859-1''r%e9sum%e9.pdf", 'résumé.pdf'],
    ["attachment; filename*=KOI8-R''%c1; filename=known.txt", 'known.txt'],
    ['attachment; filename*=broken; filename=known.txt', 'known.txt'],
    ["attachment; filename*=UTF-8''%zz%ff", '%zz%ff'],
    [`attachment; filename="${Buffer.from('été.jpg').toString('latin1')}"`, 'été.jpg'],
    ['attachment; filename="\xe9t\xe9.jpg"', 'été.jpg'],
    ['attachment; filename=a; filename=b', 'a'],
    ['attachment', 'the-path.bin'],
    ['', 'the-path.bin'],
    ['attachment; filename=""', 'the-path.bin'],
    ['attachment; filename="unclosed', 'the-path.bin'],
    ['filename=a.pdf', 'the-path.bin'],
    [';;;;', 'the-path.bin'],
  ])('is read: %j', (header, name) => {
    expect(named(header)).toBe(name);
  });

  test.each<[string, string | undefined]>([
    ['../../etc/passwd', 'passwd'],
    ['..\\\\..\\\\boot.ini', 'boot.ini'],
    ['C:\\\\dir\\\\a.txt', 'a.txt'],
    ['/', 'the-path.bin'],
    ['..', 'the-path.bin'],
    ['. . .', 'the-path.bin'],
    ['.htaccess', 'htaccess'],
    ['a\t\x00\x1f\x7f\x85b.txt', 'ab.txt'],
    [' a.txt. ', 'a.txt'],
  ])('is reduced to one plain name: %j', (value, name) => {
    expect(named(`attachment; filename="${value}"`)).toBe(name);
  });

  test('does not change the direction of text, and has a maximum length', () => {
    expect(named("attachment; filename*=UTF-8''gpj%E2%80%AE.exe%E2%81%A6%EF%BB%BF")).toBe('gpj.exe');
    expect(named("attachment; filename*=UTF-8''%2e%2e%2f%2e%2e%2fa%2fb.txt")).toBe('b.txt');
    expect(named(`attachment; filename="${'a'.repeat(5000)}.pdf"`)).toBe(`${'a'.repeat(116)}.pdf`);
    const emoji = named(`attachment; filename*=UTF-8''${'%F0%9F%98%80'.repeat(500)}.png`);
    expect([[...(emoji ?? '')].length, emoji?.endsWith('😀.png'), /\p{Cs}/u.test(emoji ?? '')]).toEqual([
      120,
      true,
      false,
    ]);
  });

  test('is read quickly, however it is written', () => {
    const hostile = [
      ';'.repeat(16_000),
      `; filename="${'\\'.repeat(16_000)}`,
      `;${' '.repeat(16_000)}`,
      `; a${' '.repeat(8000)};`,
    ];
    for (const header of [
      ...hostile,
      `; filename=${' '.repeat(16_000)}x`,
      '; a="'.repeat(3000),
      `; filename="${' '.repeat(16_000)}x"`,
      `; filename=a${'.'.repeat(16_000)}x`,
    ]) {
      const before = process.cpuUsage().user;
      named(header);
      expect(process.cpuUsage(undefined).user - before).toBeLessThan(500_000);
    }
  });
});

describe('the name in the path', () => {
  test.each<[string, string | undefined]>([
    ['/a/b%20c.png?x=y.gif#z.exe', 'b c.png'],
    ['/%E0%A4%A.txt', '%E0%A4%A.txt'],
    ['/a%2F..%2Fb.txt', 'b.txt'],
    ['/a%5Cb.txt', 'b.txt'],
    ['/dir/', undefined],
    ['/', undefined],
    ['/%2e', undefined],
    ['/%00', undefined],
  ])('%s', (path, name) => {
    expect(fileNameOf(undefined, url(path))).toBe(name);
  });
});
