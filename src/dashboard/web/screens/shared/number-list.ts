import { callingCodeOf, cleanNumber } from './number.js';

/** A line that contains no number. */
export interface BadLine {
  readonly line: number;
  readonly text: string;
}

/** Numbers in the order of their first appearance, each once. */
export interface NumberList {
  readonly numbers: readonly string[];
  readonly duplicates: number;
  readonly bad: readonly BadLine[];
}

/** How many lines are read before the browser may draw. */
const AT_ONCE = 4000;
/** How many characters of a bad line are shown. */
const SHOWN = 60;

/**
 * Reads numbers.
 * @param which the numbers of a line to take: `first` for files, because their other columns may look like numbers, `all` for
 * typed text
 */
export function numbersOf(text: string, which: 'first' | 'all'): NumberList {
  const reader = new Reader(which);
  for (const line of text.split(/\r\n|\r|\n/)) reader.read(line);
  return reader;
}

/**
 * Reads numbers like `numbersOf`, but in steps, so that the page stays usable while it reads a long text.
 * @param onProgress called with the part that was read, 0 to 1
 */
export async function manyNumbersOf(
  text: string,
  which: 'first' | 'all',
  onProgress: (part: number) => void,
): Promise<NumberList> {
  const reader = new Reader(which);
  const lines = text.split(/\r\n|\r|\n/);
  for (let start = 0; start < lines.length; start += AT_ONCE) {
    for (const line of lines.slice(start, start + AT_ONCE)) reader.read(line);
    onProgress(Math.min((start + AT_ONCE) / lines.length, 1));
    await new Promise((go) => setTimeout(go));
  }
  return reader;
}

class Reader implements NumberList {
  private readonly found = new Set<string>();
  private line = 0;
  duplicates = 0;
  readonly bad: BadLine[] = [];

  constructor(private readonly which: 'first' | 'all') {}

  get numbers(): readonly string[] {
    return [...this.found];
  }

  read(line: string): void {
    this.line++;
    if (line.trim() === '') return;
    const cells = line.split(/[,;\t|]/).filter((cell) => cell.trim() !== '');
    const numbers = cells.flatMap((cell) => cleanNumber(cell) ?? []);
    const [first] = numbers;
    // The first line of a file may contain the names of its columns.
    if (first === undefined || (this.which === 'all' && numbers.length < cells.length)) {
      const isHead = this.which === 'first' && this.line === 1 && !/\d{5}/.test(line);
      if (!isHead) this.bad.push({ line: this.line, text: line.trim().slice(0, SHOWN) });
    }
    for (const number of this.which === 'first' ? (first === undefined ? [] : [first]) : numbers) this.add(number);
  }

  private add(number: string): void {
    if (this.found.has(number)) this.duplicates++;
    else this.found.add(number);
  }
}

/** Counts the numbers of each country, the most frequent country first. Undefined: the calling code is not known. */
export function countriesOf(
  numbers: readonly string[],
): readonly (readonly [region: string | undefined, count: number])[] {
  const counts = new Map<string | undefined, number>();
  for (const number of numbers) {
    const { region } = callingCodeOf(number);
    counts.set(region, (counts.get(region) ?? 0) + 1);
  }
  return [...counts].sort(([, a], [, b]) => b - a);
}
