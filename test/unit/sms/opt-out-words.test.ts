import { describe, expect, test } from '@jest/globals';
import { normalizedWord, requestIn } from '../../../src/sms/opt-out/opt-out-words.js';
import { resolveSmsSettings } from '../../../src/sms/sms-options.js';

const compiled = (optOutWords: object) =>
  resolveSmsSettings({ tariff: { base: 1, international: 3, home: 'BF' }, optOutWords }).optOutWords;
const words = compiled({});
const wish = (text: string, all = words) => all.get(normalizedWord(text));

describe('a text from a phone', () => {
  test.each([
    'STOP',
    'stop',
    ' Stop. ',
    'STOP!!',
    '« stop »',
    'S\u0301TOP',
    'STOP \u{1F6D1}',
    '"ARRÊT"',
    'arret',
    'ARRE\u0302T',
    'Désabonner',
    'DÉSABONNER',
    'desabonnement',
    'Résilier',
    'stop   all',
    'Stop-All',
    'UNSUBSCRIBE',
    'Cancel',
    'end',
    'QUIT',
    'StopAll',
    'opt out',
    'opt-out',
    '\tstop\r\n',
    '\uFF33\uFF34\uFF2F\uFF30',
    'ST\u200bOP',
    'ST\u00adOP',
    '\u202aSTOP\u202c',
    'STOP\ufe0f',
  ])('%j opts out', (text) => {
    expect(wish(text)).toBe('stop');
  });

  test.each(['START', 'start.', 'Unstop', 'reprendre', 'RÉABONNER', 'opt in'])('%j opts in again', (text) => {
    expect(wish(text)).toBe('start');
  });

  test.each([
    '',
    '   ',
    '...',
    'Ne vous arrêtez pas',
    'stop it',
    "s'il vous plaît stop",
    'stopped',
    'NONSTOP',
    'S T O P',
    'OUI',
    'yes',
    'non',
    'bonjour',
    'st0p',
    `stop${' '.repeat(100)}`,
    'stop '.repeat(20),
    '\u{1F6D1}',
  ])('%j has no effect', (text) => {
    expect(wish(text)).toBeUndefined();
  });

  test('a host can add words of its own, in any script', () => {
    const more = compiled({ stop: ['Basta', 'توقف', 'n saama'], start: ['Encore'] });
    expect(['BASTA!', 'توقف', 'N SAAMA', 'stop'].map((text) => wish(text, more))).toEqual(Array(4).fill('stop'));
    expect(wish('encore', more)).toBe('start');
    expect(wish('basta')).toBeUndefined();
  });

  test.each<[string, object]>([
    ['Option sms.optOutWords.stop must be a list of words.', { stop: 'BASTA' }],
    ['Option sms.optOutWords.stop has "...", which is not a word.', { stop: ['...'] }],
    ['Option sms.optOutWords.start has 7, which is not a word.', { start: [7] }],
    ['Option sms.optOutWords has "Stop" for both stop and start.', { start: ['Stop'] }],
    ['Option sms.optOutWords has "basta" for both stop and start.', { stop: ['BASTA'], start: ['basta'] }],
  ])('%s', (sentence, option) => {
    expect(() => compiled(option)).toThrow(sentence);
  });
});

test.each([
  ['STOP', 'stop'],
  ['Stop 36111', 'stop'],
  ['STOP au 36111.', 'stop'],
  ['STOP AU 36 111', undefined],
  ['stop to 36111', 'stop'],
  ['STOP INFOS', 'stop'],
  ['arrêt à Infos', 'stop'],
  ['Désabonner Café-Bio', 'stop'],
  ['START 36111', 'start'],
  ['STOP 36222', undefined],
  ['STOP au', undefined],
  ['36111', undefined],
  ['je dis stop 36111', undefined],
  ['stop infos svp', undefined],
])('%j to 36111, the number of INFOS and CAFÉ BIO, asks for %s', (text, request) => {
  expect(requestIn(words, text, ['36111', 'INFOS', 'CAFE BIO', '&-'])).toBe(request);
});
