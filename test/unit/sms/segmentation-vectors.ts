/** A text and the segments that it must take, from 3GPP TS 23.038 clause 6.2.1 and TS 23.040 clause 9.2.3.24.1. */
export interface Vector {
  readonly name: string;
  readonly text: string;
  readonly encoding: 'GSM-7' | 'UCS-2';
  readonly segments: number;
  readonly characters: number;
  readonly codeUnits: number;
}

const a = (count: number) => 'a'.repeat(count);
const ya = (count: number) => 'я'.repeat(count);

const gsm = (name: string, text: string, segments: number, codeUnits: number, characters = text.length): Vector => {
  return { name, text, encoding: 'GSM-7', segments, characters, codeUnits };
};
const ucs = (name: string, text: string, segments: number, characters: number, codeUnits = text.length): Vector => {
  return { name, text, encoding: 'UCS-2', segments, characters, codeUnits };
};

const EXTENSION_CHARACTERS = ['\f', '^', '{', '}', '\\', '[', '~', ']', '|', '€'];
/** Neighbours and look-alikes of the alphabet. */
const OUTSIDE = [
  ...'çâêëîïôûœŒÿÀÈÔ«»’‘“”…–—`áíóúÁÍÓÚÃãÕõẞıİŞşĞğ¢©®°²½×÷µАаΑΒΕαωμ',
  '\u00a0',
  '\u202f',
  '\u200b',
  '\ufeff',
  '\u00ad',
  '\u2126',
  '\u212b',
  '\t',
  '\v',
  '\b',
  '\u007f',
  '\u0085',
];

export const vectors: readonly Vector[] = [
  gsm('no text', '', 1, 0),
  gsm('one character', 'a', 1, 1),
  gsm('the commercial at is septet 0', '@'.repeat(160), 1, 160),
  gsm('exactly one SMS', a(160), 1, 160),
  gsm('one septet more', a(161), 2, 161),
  gsm('exactly two parts', a(306), 2, 306),
  gsm('one septet more than two parts', a(307), 3, 307),
  gsm('exactly three parts', a(459), 3, 459),
  gsm('one septet more than three parts', a(460), 4, 460),
  gsm('255 parts', a(255 * 153), 255, 39_015),
  gsm('256 parts: no cap here', a(255 * 153 + 1), 256, 39_016),
  gsm('80 extension characters in one SMS', ']'.repeat(80), 1, 160),
  gsm('81 extension characters: parts of 76', ']'.repeat(81), 2, 162),
  gsm('152 extension characters are two parts', ']'.repeat(152), 2, 304),
  gsm('153 extension characters are 306 septets, yet three parts', ']'.repeat(153), 3, 306),
  gsm('159 septets and an extension character', `${a(159)}€`, 2, 161),
  gsm('two straddles cost a part', `${a(152)}€${a(151)}€${a(152)}`, 4, 459),
  gsm('an extension character ends a part', `${a(151)}€${a(153)}`, 2, 306),
  gsm('an extension character begins a part', `${a(153)}€${a(151)}`, 2, 306),
  ...EXTENSION_CHARACTERS.flatMap((character) => {
    const name = JSON.stringify(character);
    return [
      gsm(`${name} takes two septets`, character, 1, 2),
      gsm(`${name} ends one SMS`, a(158) + character, 1, 160),
      gsm(`${name} would be cut at 153 and moves on`, a(152) + character + a(151), 2, 305),
      gsm(`${name} moves on and the rest with it`, a(152) + character + a(152), 3, 306),
      gsm(`${name} at the second boundary`, a(305) + character + a(151), 3, 458),
      gsm(`${name} at the second boundary, too much`, a(305) + character + a(152), 4, 459),
      ucs(`${name} is one unit in UCS-2`, `${character.repeat(69)}я`, 1, 70),
    ];
  }),
  gsm('French in the alphabet', 'àèéùìòÉÇ', 1, 8),
  gsm('capital C with cedilla', 'Ça va'.repeat(32), 1, 160),
  ucs('small c with cedilla', `${a(69)}ç`, 1, 70),
  ucs('small c with cedilla, one unit more', `${a(70)}ç`, 2, 71),
  gsm('line feed and carriage return', 'a\r\nb', 1, 4),
  gsm('Greek capitals without a Latin twin', 'ΔΦΓΛΩΠΨΣΘΞ', 1, 10),
  ...OUTSIDE.map((character) => ucs(`${JSON.stringify(character)} is not in GSM-7`, `a${character}`, 1, 2)),
  ucs('e and a combining acute accent is two characters', 'e\u0301', 1, 2),
  ucs('exactly one SMS of UCS-2', ya(70), 1, 70),
  ucs('one unit more', ya(71), 2, 71),
  ucs('exactly two parts of UCS-2', ya(134), 2, 134),
  ucs('one unit more than two parts', ya(135), 3, 135),
  ucs('exactly three parts of UCS-2', ya(201), 3, 201),
  ucs('one unit more than three parts', ya(202), 4, 202),
  ucs('a surrogate pair is two code units', '😀', 1, 1, 2),
  ucs('a surrogate pair ends one SMS', `${ya(68)}😀`, 1, 69),
  ucs('a surrogate pair too much', `${ya(69)}😀`, 2, 70),
  ucs('a surrogate pair ends a part', `${ya(65)}😀${ya(67)}`, 2, 133),
  ucs('a surrogate pair begins a part', `${ya(67)}😀${ya(65)}`, 2, 133),
  ucs('a surrogate pair would be cut and moves on', `${ya(66)}😀${ya(65)}`, 2, 132),
  ucs('it moves on and the rest with it: 134 code units, three parts', `${ya(66)}😀${ya(66)}`, 3, 133),
  ucs('35 pairs in one SMS', '😀'.repeat(35), 1, 35),
  ucs('66 pairs in two parts of 66 code units', '😀'.repeat(66), 2, 66),
  ucs('67 pairs are 134 code units, yet three parts', '😀'.repeat(67), 3, 67),
  ucs('a family is not held together', `${ya(64)}👨‍👩‍👧${ya(62)}`, 2, 131),
  ucs('a flag is not held together', `${ya(65)}🇧🇫${ya(65)}`, 2, 132),
  ucs('the one character that is not GSM-7 stands last', `${a(999)}ê`, 15, 1000),
];
