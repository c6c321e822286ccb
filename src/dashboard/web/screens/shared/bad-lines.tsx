import { Note } from '../../components/notes.js';
import { number } from '../../core/format.js';
import { texts } from '../../core/i18n.js';
import type { BadLine } from './number-list.js';
import './bad-lines.css';

const t = texts(
  {
    bad: '{n} {n|line|lines} without a number, left out',
    line: 'line {line}',
    lineOf: '{name}, line {line}',
    more: '… and {n} more',
  },
  {
    bad: '{n} {n|ligne écartée|lignes écartées}, sans numéro',
    line: 'ligne {line}',
    lineOf: '{name}, ligne {line}',
    more: '… et {n} de plus',
  },
);

/** How many lines are listed at first, and how many if the reader asks for all. */
const FIRST = 3;
const MAX_LISTED = 100;

/** The lines of one list that contain no number. */
export interface BadLines {
  /** The name of the file. Undefined if the list was typed. */
  readonly name?: string | undefined;
  readonly bad: readonly BadLine[];
}

/**
 * Lists the lines that contain no number, each with its line number, so that the user can correct the source.
 * @param title what is wrong with them, if it is something else
 */
export function BadLinesNote({ of, title }: { readonly of: readonly BadLines[]; readonly title?: string }) {
  const all = of.flatMap(({ name, bad }) => bad.slice(0, MAX_LISTED).map((each) => ({ ...each, name })));
  const count = of.reduce((sum, { bad }) => sum + bad.length, 0);
  if (count === 0) return null;
  const shown = (each: (typeof all)[number]) => (
    <li key={`${each.name} ${each.line}`}>
      <span class="strong">
        {each.name === undefined ? t('line', each) : t('lineOf', { ...each, name: each.name })}
      </span>{' '}
      <bdi>{each.text}</bdi>
    </li>
  );
  const rest = all.slice(FIRST, MAX_LISTED);
  return (
    <Note tone="warn">
      <div class="bad-lines">
        <p>{title ?? t('bad', { n: count })}</p>
        <ul>{all.slice(0, FIRST).map(shown)}</ul>
        {rest.length > 0 && (
          <details>
            <summary>{t('more', { n: count - FIRST })}</summary>
            <ul>
              {rest.map(shown)}
              {count > MAX_LISTED && <li>… {number(count - MAX_LISTED, { signDisplay: 'always' })}</li>}
            </ul>
          </details>
        )}
      </div>
    </Note>
  );
}
