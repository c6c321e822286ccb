import type { ComponentChildren } from 'preact';
import { isPassing } from '../core/errors.js';
import { useAction } from '../core/form.js';
import type { List } from '../core/resource.js';
import { queryValue, setQuery } from '../core/router.js';
import { word } from '../core/words.js';
import { Button } from './button.js';
import { Empty, Failure, Loading, Note } from './notes.js';

export interface Column<T> {
  readonly title: string;
  cell(row: T): ComponentChildren;
  /** Numbers stand right. */
  readonly right?: boolean;
  /** The title is for screen readers only (buttons). */
  readonly quiet?: boolean;
}

interface TableProps<T> {
  /** What the table shows, for screen readers. */
  readonly caption: string;
  readonly columns: readonly Column<T>[];
  readonly rows: readonly T[];
  identity(row: T): string;
}

/** A table; on a narrow screen each row is a card with the titles beside the values. */
export function Table<T>({ caption, columns, rows, identity }: TableProps<T>) {
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
          <tr key={identity(row)}>
            {columns.map(({ title, cell, right, quiet }) => (
              <td key={title} class={right ? 'right' : undefined} data-title={quiet ? undefined : title}>
                <div>{cell(row)}</div>
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

interface ListTableProps<T> extends Omit<TableProps<T>, 'rows'> {
  readonly list: List<T>;
  /** What stands where there is nothing. */
  readonly empty: ComponentChildren;
  /** The filters in the address; where one is set, nothing matches rather than nothing is there. */
  readonly filters?: readonly string[];
}

/** A list of the API as a table, with all its states: loading, empty, failed, not up to date, more to come. */
export function ListTable<T>({ list, empty, filters = [], ...table }: ListTableProps<T>) {
  const next = useAction(() => list.more());
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
      ) : filters.some((name) => queryValue(name) !== '') ? (
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
      {list.hasMore && (
        <div class="more">
          <Button busy={next.busy} onClick={() => void next.run()}>
            {word('more')}
          </Button>
        </div>
      )}
    </>
  );
}
