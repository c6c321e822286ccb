import { createRequire } from 'node:module';
import { measure } from 'nestjs-messaging';
import { median } from '../versus.js';

/** `split-sms` has no types. `summary` is its fastest mode: it counts without keeping the parts. */
const splitSms: { split(text: string, options: { summary: boolean }): { parts: readonly unknown[] } } = createRequire(
  import.meta.url,
)('split-sms');

const LENGTHS = [40, 160, 1000];
const RUNS = 9;
const RUN_NS = 20_000_000;

/** Kinds of texts, each with a function that makes a text of `length` UTF-16 units. */
const KINDS: readonly (readonly [name: string, text: (length: number) => string])[] = [
  ['GSM-7', gsm7],
  ['UCS-2', ucs2],
  ['GSM-7 but the last character', (length) => `${gsm7(length - 1)}ê`],
];

/** The texts a second of our function and of `split-sms`. The ratio is ours divided by theirs. */
export interface SegmentationResult {
  name: string;
  ours: number;
  theirs: number;
  ratio: number;
}

/** Counts SMS with `measure` and with `split-sms`, in turns in one process. Each number is the median of the turns. */
export function benchSegmentation(): SegmentationResult[] {
  const results: SegmentationResult[] = [];
  for (const [kind, text] of KINDS) {
    for (const length of LENGTHS) results.push(compare(`${kind}, ${length}`, text(length), segments));
  }
  // We count code points only on request, but split-sms always counts them. So the fair comparison is the one with code
  // points.
  for (const length of LENGTHS) {
    results.push(compare(`UCS-2, ${length}, with its code points`, ucs2(length), segmentsAndCharacters));
  }
  return results;
}

function compare(name: string, text: string, count: (text: string) => number): SegmentationResult {
  // The texts are made by JSON.parse, as in a request: flat strings of their own, instead of views of one string.
  const texts = Array.from({ length: 16 }, (): string => JSON.parse(JSON.stringify(text)));
  const ours: number[] = [];
  const theirs: number[] = [];
  for (let run = 0; run <= RUNS; run++) {
    const [a, b] = [rate(texts, count), rate(texts, theirSegments)];
    // The first turn warms up.
    if (run > 0) {
      ours.push(a);
      theirs.push(b);
    }
  }
  const [our, their] = [median(ours), median(theirs)];
  return { name, ours: our, theirs: their, ratio: our / their };
}

function segments(text: string): number {
  return measure(text).segments;
}

function segmentsAndCharacters(text: string): number {
  const { segments, characters } = measure(text);
  return segments + characters;
}

function theirSegments(text: string): number {
  return splitSms.split(text, { summary: true }).parts.length;
}

function rate(texts: readonly string[], count: (text: string) => number): number {
  const start = process.hrtime.bigint();
  let done = 0;
  let sum = 0;
  let spent = 0;
  do {
    for (let round = 0; round < 8; round++) {
      for (const text of texts) sum += count(text);
    }
    done += 8 * texts.length;
    spent = Number(process.hrtime.bigint() - start);
  } while (spent < RUN_NS);
  // The sum is read, so that the engine cannot skip the work.
  if (sum < done) throw new Error('a text of no SMS');
  return Math.round((done * 1e9) / spent);
}

function gsm7(length: number): string {
  return fill('Bonjour Awa, votre facture de 1250 F (ref. A-77) est à régler. ', length);
}

/** Makes a Cyrillic text with some emoji, so that boundaries of segments meet surrogate pairs. */
function ucs2(length: number): string {
  return fill('Здравствуйте, ваш счёт готов, спасибо 😀 ', length).replace(/\p{Surrogate}$/u, 'я');
}

function fill(pattern: string, length: number): string {
  return pattern.repeat(Math.ceil(length / pattern.length)).slice(0, length);
}
