import { describe, expect, test } from '@jest/globals';
import { type MediaOptions, resolveMediaSettings } from '../../../src/media/media-options.js';

describe('what the host allows', () => {
  test.each<[MediaOptions | undefined, boolean, string[]]>([
    [undefined, false, []],
    [{}, false, []],
    [{ allow: 'none' }, false, []],
    [{ allow: [] }, false, []],
    [{ allow: 'loopback' }, true, []],
    [
      { allow: ['https://Files.example', 'http://10.0.0.1:8080/', 'http://[::1]:80', 'https://a.example:443'] },
      false,
      ['https://files.example', 'http://10.0.0.1:8080', 'http://[::1]', 'https://a.example'],
    ],
  ])('accepts %j', (options, loopback, origins) => {
    expect(resolveMediaSettings(options)).toEqual({ loopback, origins: new Set(origins) });
  });

  test.each<[unknown, string]>([
    ['all', 'Option media.allow must be "none", "loopback" or a list of origins.'],
    ['https://files.example', 'Option media.allow must be'],
    [true, 'Option media.allow must be'],
    [null, 'Option media.allow must be'],
    [{ 0: 'https://files.example' }, 'Option media.allow must be'],
    [['https://files.example', 'files.example'], 'Option media.allow[1] must be an origin'],
    [['*'], 'Option media.allow[0] must be an origin'],
    [['https://*.example'], 'Option media.allow[0] must be an origin'],
    [['https://files.example/dir'], 'Option media.allow[0] must be an origin'],
    [['https://files.example?x'], 'Option media.allow[0] must be an origin'],
    [['https://files.example#x'], 'Option media.allow[0] must be an origin'],
    [['https://user@files.example'], 'Option media.allow[0] must be an origin'],
    [['ftp://files.example'], 'Option media.allow[0] must be an origin'],
    [['file:///'], 'Option media.allow[0] must be an origin'],
    [['null'], 'Option media.allow[0] must be an origin'],
    [[''], 'Option media.allow[0] must be an origin'],
    [[7], 'Option media.allow[0] must be an origin'],
  ])('refuses %j with a sentence', (allow, sentence) => {
    const resolve = () => resolveMediaSettings({ allow } as MediaOptions);
    expect(resolve).toThrow(sentence);
    expect(resolve).toThrow(expect.objectContaining({ name: 'MessagingOptionsError' }));
  });
});
