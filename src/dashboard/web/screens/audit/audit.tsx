import type { AuditEntry } from '../../../../client/manage/index.js';
import { DayFields, SearchField, SelectField } from '../../components/field.js';
import { Empty } from '../../components/notes.js';
import { Filters, Screen } from '../../components/page.js';
import { Code } from '../../components/shown.js';
import { type Column, ListTable } from '../../components/table.js';
import { manage } from '../../core/clients.js';
import { moment } from '../../core/format.js';
import { chosenPeriod } from '../../core/period.js';
import { useList } from '../../core/resource.js';
import { filterOf, queryValue, setQuery } from '../../core/router.js';
import { word } from '../../core/words.js';
import { actionName, t } from './audit-texts.js';

/** The audit log of an account: who changed what. */
export function Audit() {
  return <AuditTable all={false} />;
}

/** The audit log for operators: the changes of all accounts, and changes that belong to no account. */
export function AuditOfAll() {
  return <AuditTable all />;
}

function AuditTable({ all }: { readonly all: boolean }) {
  const action = queryValue('action');
  const of = queryValue('of');
  const query = { ...chosenPeriod(), action: filterOf('action') };
  const list = useList(
    (options) =>
      all
        ? manage().operator.audit({ ...query, account: filterOf('of') }, options)
        : manage().account.audit(query, options),
    [all, query, of],
    ({ id }) => id,
    15_000,
  );
  const columns: readonly Column<AuditEntry>[] = [
    { title: word('time'), cell: ({ at }) => <time dateTime={at}>{moment(at)}</time> },
    { title: t('who'), cell: ({ by }) => <Who of={by} /> },
    { title: t('action'), cell: ({ action: each }) => actionName.of(each) },
    { title: t('target'), cell: ({ target }) => <bdi>{target}</bdi> },
    { title: t('changes'), cell: Changes },
    ...(all ? [{ title: word('account'), cell: ({ account }: AuditEntry) => account && <Code>{account}</Code> }] : []),
  ];
  return (
    <Screen title={t('title')} lead={t('lead')}>
      <Filters>
        {all && <SearchField label={word('account')} value={of} onInput={(account) => setQuery({ of: account })} />}
        <DayFields />
        <SelectField
          label={t('action')}
          value={action}
          options={[['', word('all')], ...actionName.keys.map((each) => [each, actionName(each)] as const)]}
          onInput={(chosen) => setQuery({ action: chosen })}
        />
      </Filters>
      <ListTable
        list={list}
        caption={t('title')}
        identity={({ id }) => id}
        columns={columns}
        filters={['of', 'action', 'from', 'to']}
        empty={<Empty title={t('empty')}>{t('emptyHow')}</Empty>}
      />
    </Screen>
  );
}

function Who({ of: { kind, id, address } }: { readonly of: AuditEntry['by'] }) {
  return (
    <>
      <bdi>{id ?? t.of(kind)}</bdi>
      <div class="soft small">{[id === null ? '' : t.of(kind), address].filter(Boolean).join(' · ')}</div>
    </>
  );
}

/** The fields that changed, each with its old and its new value. */
function Changes({ before, after }: AuditEntry) {
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])];
  const fields = names.filter((name) => !isNothing(before?.[name]) || !isNothing(after?.[name]));
  return (
    <ul class="changes">
      {fields.map((field) => (
        <li key={field} dir="auto">
          <span class="soft">{field}</span> {before?.[field] !== undefined && <del>{shown(before[field])}</del>}{' '}
          {after?.[field] !== undefined && <ins>{shown(after[field])}</ins>}
        </li>
      ))}
    </ul>
  );
}

function isNothing(value: unknown): boolean {
  return value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0);
}

function shown(value: unknown): string {
  if (isNothing(value)) return '–';
  if (typeof value === 'string' && /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(value)) return moment(value);
  return Array.isArray(value) ? value.join(', ') : String(value);
}
