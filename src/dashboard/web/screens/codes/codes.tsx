import type { CodeFigures } from '../../../../client/manage/index.js';
import { DayFields } from '../../components/field.js';
import { Empty, Failure, Loading, Note } from '../../components/notes.js';
import { Filters, Screen, Section } from '../../components/page.js';
import { Table } from '../../components/table.js';
import { manage } from '../../core/clients.js';
import { isPassing } from '../../core/errors.js';
import { country, number, percent } from '../../core/format.js';
import { chosenPeriod } from '../../core/period.js';
import { useResource } from '../../core/resource.js';
import { hrefOf } from '../../core/router.js';
import { can } from '../../core/session.js';
import { word } from '../../core/words.js';
import { ruleName, t } from './codes-texts.js';
import './codes.css';

const EVERY = 30_000;

type CountryCodes = CodeFigures['items'][number];

/** One-time codes by country, and the codes that were refused. */
export function Codes() {
  const { since, until } = chosenPeriod();
  const { data, error, reload } = useResource(
    (signal) => manage().account.codes({ since, until }, { signal }),
    [since, until],
    EVERY,
  );
  return (
    <Screen title={t('title')} lead={t('lead')}>
      <Filters>
        <DayFields />
      </Filters>
      {error !== undefined &&
        (data && isPassing(error) ? (
          <Note tone="warn">{word('stale')}</Note>
        ) : (
          <Failure error={error} onRetry={() => void reload()} />
        ))}
      {data ? <Content of={data} /> : error === undefined && <Loading lines={6} />}
    </Screen>
  );
}

function Content({ of: { items, refusals } }: { readonly of: CodeFigures }) {
  const sent = items.reduce((sum, each) => sum + each.sent, 0);
  const verified = items.reduce((sum, each) => sum + each.verified, 0);
  if (sent === 0 && refusals.length === 0) {
    return (
      <Empty
        title={t('none')}
        action={
          can('keys.read') && (
            <a class="button main" href={hrefOf('keys')}>
              {t('keys')}
            </a>
          )
        }
      >
        {t('noneHow')}
      </Empty>
    );
  }
  const rows = [...items].sort((a, b) => b.sent - a.sent);
  const total = { country: 'total', sent, verified, conversion: sent === 0 ? null : verified / sent };
  return (
    <>
      <Section title={t('byCountry')}>
        <Table
          caption={t('byCountry')}
          rows={rows.length > 1 ? [...rows, total] : rows}
          identity={({ country: of }) => of ?? ''}
          columns={[
            { title: t('country'), cell: CountryName },
            { title: t('sent'), right: true, cell: (row) => number(row.sent) },
            { title: t('verified'), right: true, cell: (row) => number(row.verified) },
            { title: t('conversion'), right: true, cell: Conversion },
          ]}
        />
      </Section>
      <Section title={t('refusals')}>
        {refusals.length === 0 ? (
          <Empty title={t('noRefusals')}>{t('noRefusalsHow')}</Empty>
        ) : (
          <Table
            caption={t('refusals')}
            rows={[...refusals].sort((a, b) => b.count - a.count)}
            identity={({ reason }) => reason}
            columns={[
              { title: t('reason'), cell: ({ reason }) => <bdi>{ruleName.of(reason)}</bdi> },
              { title: t('count'), right: true, cell: ({ count }) => number(count) },
            ]}
          />
        )}
      </Section>
    </>
  );
}

function CountryName({ country: of }: CountryCodes) {
  if (of === 'total') return <b>{t('all')}</b>;
  return <bdi>{of === null || of === 'unknown' ? t('unknown') : country(of)}</bdi>;
}

function Conversion({ conversion, sent, verified }: CountryCodes) {
  if (sent === 0) return '–';
  const value = conversion ?? verified / sent;
  return (
    <span class="meter-cell">
      <meter min={0} max={1} low={0.3} high={0.6} optimum={1} value={value} aria-hidden="true" />
      <span>{percent(value)}</span>
    </span>
  );
}
