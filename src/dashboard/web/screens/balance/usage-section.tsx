import type { Usage, UsageGroup, UsageRow } from '../../../../client/manage/index.js';
import { BarChart } from '../../components/chart.js';
import { Empty, Failure, Loading } from '../../components/notes.js';
import { Table } from '../../components/table.js';
import { serverNow } from '../../core/clock.js';
import { country, day, number, shortDay } from '../../core/format.js';
import { daysOf, type Period } from '../../core/period.js';
import type { Resource } from '../../core/resource.js';
import { t } from './balance-texts.js';

/** The groupings that a user can choose. */
export const GROUPINGS = ['day', 'channel', 'country', 'signature', 'key'] as const satisfies readonly UsageGroup[];

/** The usage as a chart, and as a table with the same numbers. */
export function UsageSection({
  usage: { data, error, reload },
  by,
  period,
}: {
  readonly usage: Resource<Usage>;
  readonly by: UsageGroup;
  readonly period: Period;
}) {
  if (data === undefined) {
    return error === undefined ? <Loading lines={8} /> : <Failure error={error} onRetry={() => void reload()} />;
  }
  if (data.items.length === 0) return <Empty title={t('noUsage')}>{t('noUsageHow')}</Empty>;
  const named = data.items.map((row) => ({ ...row, name: nameOf(row, by) }));
  const units = new Map(data.items.map((row) => [row.day ?? '', row.net_units]));
  const bars =
    by === 'day'
      ? daysOf(period, serverNow()).map((each) => ({ name: shortDay(each), value: units.get(each) ?? 0 }))
      : named.map(({ name, net_units: value }) => ({ name, value }));
  return (
    <>
      <BarChart
        label={t('chart', { by: t(by).toLowerCase() })}
        names={bars.map(({ name }) => name)}
        values={bars.map(({ value }) => value)}
      />
      <Table
        caption={t('usage')}
        rows={named}
        identity={({ name }) => name}
        columns={[
          { title: t(by), cell: ({ name }) => <bdi>{name}</bdi> },
          { title: t('sends'), right: true, cell: ({ sends }) => number(sends) },
          { title: t('people'), right: true, cell: ({ recipients }) => number(recipients) },
          { title: t('charged'), right: true, cell: ({ units }) => number(units) },
          { title: t('refunded'), right: true, cell: ({ refunded_units }) => number(refunded_units) },
          { title: t('net'), right: true, cell: ({ net_units }) => <span class="strong">{number(net_units)}</span> },
        ]}
      />
    </>
  );
}

function nameOf(row: UsageRow, by: UsageGroup): string {
  const value = row[by];
  if (value === undefined || value === null || value === '') return t('unknown');
  if (by === 'day') return day(value);
  return by === 'country' ? country(value) : value;
}
