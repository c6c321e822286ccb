import type { ComponentChildren } from 'preact';
import { isPassing } from '../core/errors.js';
import { useAction } from '../core/form.js';
import { moment } from '../core/format.js';
import type { List } from '../core/resource.js';
import { queryValue, setQuery } from '../core/router.js';
import { word } from '../core/words.js';
import { Button } from './button.js';
import { Empty, Failure, Loading, Note } from './notes.js';

export interface Column<T> {
  readonly title: string;
  cell(row: T): ComponentChildren;
  /** Whether the column is aligned right, as columns of numbers are. */
  readonly right?: boolean;
  /** Whether only screen readers get the title, as for a column of buttons. */
  readonly quiet?: boolean;
  /**
   * Where a narrow screen shows the cell. `lead` and `end` are the first line of a row, `text` is the second, and all `small`
   * ones share the last. Such cells have no title, apart from small numbers. Other cells have a line of their own.
   */
  readonly narrow?: 'lead' | 'end' | 'text' | 'small';
}

interface TableProps<T> {
  /** The title of the table for screen readers. */
  readonly caption: string;
  readonly columns: readonly Column<T>[];
  readonly rows: readonly T[];
  identity(row: T): string;
  /** Whether a click anywhere on a row follows its first link. The keyboard uses the link itself. */
  readonly opens?: boolean;
}

/** A table. On a narrow screen each row becomes a card with the titles next to the values. */
export function Table<T>({ caption, columns, rows, identity, opens }: TableProps<T>) {
  const figures = columns.filter(({ right, quiet }) => right && !quiet).length;
  return (
    <table class={figures > 3 ? 'table figures' : 'table'}>
      <caption class="hidden-text">{caption}</caption>
      <thead>
        <tr>
          {columns.map(({ title, right, quiet }) => (
            <th key={title} scope="col" class={right ? 'right' : undefined}>
              {quiet ? <span class="hidden-text">{title}</span> : title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={identity(row)} class={opens ? 'opens' : undefined} onClick={opens ? openRow : undefined}>
            {columns.map(({ title, cell, right, quiet, narrow }) => (
              <td
                key={title}
                class={[right && 'right', narrow && `narrow-${narrow}`].filter(Boolean).join(' ') || undefined}
                data-title={quiet ? undefined : title}
              >
                <div>{cell(row)}</div>
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** Follows the first link of a row, unless the click was on a control or ended the selection of a text. */
function openRow({ currentTarget, target }: MouseEvent): void {
  if (!(currentTarget instanceof HTMLElement && target instanceof Element)) return;
  if (target.closest('a, button, input, select, label, summary') || getSelection()?.toString()) return;
  currentTarget.querySelector('a')?.click();
}

interface ListTableProps<T> extends Omit<TableProps<T>, 'rows'> {
  readonly list: List<T>;
  /** Shown if the list is empty. */
  readonly empty: ComponentChildren;
  /** The filters of this list. If a filter is set, an empty list means that no entry matches, not that there are no entries. */
  readonly filters?: readonly string[];
}

/** A list of the API as a table. It shows whether the list is loading, empty, failed or stale, and whether there is more. */
export function ListTable<T>({ list, empty, filters = [], ...table }: ListTableProps<T>) {
  const { data, error } = list;
  if (data === undefined) {
    return error === undefined ? <Loading lines={8} /> : <Failure error={error} onRetry={() => void list.reload()} />;
  }
  return (
    <>
      {error !== undefined &&
        (isPassing(error) ? (
          <Note tone="warn">{word('stale')}</Note>
        ) : (
          <Failure error={error} onRetry={() => void list.reload()} />
        ))}
      {data.length > 0 ? (
        <Table {...table} rows={data} />
      ) : list.hasMore ? null : filters.some((name) => queryValue(name) !== '') ? (
        <Empty
          title={word('nothing')}
          action={
            <Button onClick={() => setQuery(Object.fromEntries(filters.map((name) => [name, ''])))}>
              {word('clear')}
            </Button>
          }
        >
          {word('nothingHow')}
        </Empty>
      ) : (
        empty
      )}
      {list.hasMore && <More of={list} />}
    </>
  );
}

/** The button for the next page. If a search stopped before its page was full, it says how far the search has come. */
function More<T>({ of: list }: { readonly of: List<T> }) {
  const next = useAction(() => list.more());
  const isEmpty = list.data?.length === 0;
  const until = list.searchedUntil;
  const button = (
    <Button busy={next.busy} onClick={() => void next.run()}>
      {word(isEmpty || until !== undefined ? 'searchOn' : 'more')}
    </Button>
  );
  const far =
    until === undefined ? word('nothingYet') : word(isEmpty ? 'nothingUntil' : 'searchedUntil', { at: moment(until) });
  if (isEmpty) {
    return (
      <Empty title={far} action={button}>
        {word('searchHow')}
      </Empty>
    );
  }
  return (
    <div class="more">
      {until !== undefined && <p class="soft">{far}</p>}
      {button}
    </div>
  );
}
