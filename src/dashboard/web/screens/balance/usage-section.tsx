import type { Usage, UsageGroup, UsageRow } from '../../../../client/manage/index.js';
import { BarChart } from '../../components/chart.js';
import { Empty, Failure, Loading } from '../../components/notes.js';
import { Table } from '../../components/table.js';
import { country, day, number, shortDay } from '../../core/format.js';
import type { Resource } from '../../core/resource.js';
import { t } from './balance-texts.js';

/** The groupings that a user can choose. */
export const GROUPINGS = ['day', 'channel', 'country', 'signature', 'key'] as const satisfies readonly UsageGroup[];

/** The usage as a chart, and as a table with the same numbers. */
export function UsageSection({
  usage: { data, error, reload },
  by,
}: {
  readonly usage: Resource<Usage>;
  readonly by: UsageGroup;
}) {
  if (data === undefined) {
    return error === undefined ? <Loading lines={8} /> : <Failure error={error} onRetry={() => void reload()} />;
  }
  if (data.items.length === 0) return <Empty title={t('noUsage')}>{t('noUsageHow')}</Empty>;
  const named = data.items.map((row) => ({ ...row, name: nameOf(row, by) }));
  return (
    <>
      <BarChart
        label={t('chart', { by: t(by).toLowerCase() })}
        names={named.map(({ name, day: each }) => (by === 'day' && each ? shortDay(each) : name))}
        values={named.map(({ net_units }) => net_units)}
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
