import { MAX_VARIABLE_NAME, MAX_VARIABLE_VALUE, type Variables } from '../../../../common/text/personal-text.js';
import { type CsvRow, rowsOf } from '../shared/csv-rows.js';
import { cleanNumber } from '../shared/number.js';

// A table of recipients for personal texts, as it was pasted or read from a file.

/** A table of which every row was read. */
export interface Table {
  /** Why nothing of the table is used; undefined if it is sound. */
  readonly fault: { readonly reason: 'quote' | 'encoding'; readonly line: number } | undefined;
  /** The headings, empty texts if the first row has a number and so is no heading. */
  readonly titles: readonly string[];
  /** The name of the variable of each column. */
  readonly names: readonly string[];
  readonly rows: readonly CsvRow[];
}

/** A row that is left out. */
export interface BadRow {
  readonly line: number;
  readonly reason: 'number' | 'missing' | 'long';
  /** The bad number, or the name of the variable. */
  readonly of: string;
}

/** A recipient with the values of its variables. */
export interface TableRecipient {
  readonly number: string;
  readonly vars: Variables;
}

/** The recipients of a table. */
export interface TableRecipients {
  /** Distinct numbers in the order of their first appearance, each with the values of its first row. */
  readonly to: readonly TableRecipient[];
  readonly bad: readonly BadRow[];
  readonly duplicates: number;
  /** How many recipients have an empty value. */
  readonly empty: number;
}

/** Reads a table with all its rows. */
export function readTable(text: string): Table {
  const rows = [...rowsOf(text)];
  const broken = rows.find(({ cells }) => cells === undefined);
  const garbled = rows.find(({ cells }) => cells?.some((cell) => cell.includes('\ufffd')));
  const [head] = rows;
  const first = head?.cells ?? [];
  const hasTitles = first.every((cell) => cleanNumber(cell) === undefined);
  const titles = first.map((cell) => (hasTitles ? cell.trim() : ''));
  const fault = broken
    ? ({ reason: 'quote', line: broken.line } as const)
    : garbled && ({ reason: 'encoding', line: garbled.line } as const);
  return { fault, titles, names: variableNames(titles), rows: fault ? [] : rows.slice(hasTitles ? 1 : 0) };
}

/**
 * Makes a name of a variable from each heading: letters without their accents, digits and underscores, at most 32. Examples:
 * `Prénom` becomes `Prenom`, a second `Name` becomes `Name_2`, and a column without a heading `column_3`.
 */
export function variableNames(titles: readonly string[]): readonly string[] {
  const names = new Set<string>();
  for (const [index, title] of titles.entries()) {
    const plain = title.normalize('NFKD').replaceAll(/\p{M}/gu, '');
    const word = plain.replaceAll(/[^A-Za-z0-9_]+/g, '_').replaceAll(/^_+|_+$/g, '');
    const base = word === '' ? `column_${index + 1}` : word.replace(/^(?=\d)/, '_').slice(0, MAX_VARIABLE_NAME);
    let name = base;
    for (let count = 2; names.has(name); count++) {
      const suffix = `_${count}`;
      name = base.slice(0, MAX_VARIABLE_NAME - suffix.length) + suffix;
    }
    names.add(name);
  }
  return [...names];
}

/** How many rows are looked at for the column of the numbers. */
const LOOKED_AT = 50;

/** Guesses which column has the numbers: the one with most of them in the first rows. */
export function numberColumnOf({ names, rows }: Table): number {
  const some = rows.slice(0, LOOKED_AT);
  const counts = names.map((_, index) => some.filter(({ cells }) => isNumber(cells?.[index])).length);
  return Math.max(counts.indexOf(Math.max(...counts)), 0);
}

function isNumber(cell: string | undefined): boolean {
  return cell !== undefined && cleanNumber(cell) !== undefined;
}

/**
 * Returns the recipients of a table with the values that a text uses. Rows that the service would refuse are left out.
 * @param used the names of the variables of the text
 */
export function recipientsOf({ names, rows }: Table, column: number, used: readonly string[]): TableRecipients {
  const to = new Map<string, TableRecipient>();
  const bad: BadRow[] = [];
  let duplicates = 0;
  let empty = 0;
  // A variable that no column has is a fault of the text, and not of every row.
  const places = used.map((name) => [name, names.indexOf(name)] as const).filter(([, index]) => index >= 0);
  for (const { line, cells = [] } of rows) {
    const number = cleanNumber(cells[column] ?? '');
    const missing = places.find(([, index]) => cells[index] === undefined);
    const long = places.find(([, index]) => isLong(cells[index] ?? ''));
    if (number === undefined) bad.push({ line, reason: 'number', of: cells[column] ?? '' });
    else if (missing) bad.push({ line, reason: 'missing', of: missing[0] });
    else if (long) bad.push({ line, reason: 'long', of: long[0] });
    else if (to.has(number)) duplicates++;
    else {
      const vars = Object.fromEntries(places.map(([name, index]) => [name, cells[index] ?? '']));
      if (Object.values(vars).includes('')) empty++;
      to.set(number, { number, vars });
    }
  }
  return { to: [...to.values()], bad, duplicates, empty };
}

function isLong(value: string): boolean {
  return value.length > MAX_VARIABLE_VALUE && [...value].length > MAX_VARIABLE_VALUE;
}
