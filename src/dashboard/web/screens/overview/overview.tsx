import type { Overview as OverviewView } from '../../../../client/manage/index.js';
import { Empty, Failure, Loading, Note } from '../../components/notes.js';
import { Figure, Screen, Section } from '../../components/page.js';
import { Ago, Status } from '../../components/shown.js';
import { Table } from '../../components/table.js';
import { manage } from '../../core/clients.js';
import { isPassing } from '../../core/errors.js';
import { number } from '../../core/format.js';
import { LIVE, useResource } from '../../core/resource.js';
import { hrefOf } from '../../core/router.js';
import { word } from '../../core/words.js';
import { attentionHref, t } from './overview-texts.js';

/** The overview of an account: its balance, today's messages, the oldest waiting message, and facts that need attention. */
export function Overview() {
  const { data, error, reload } = useResource((signal) => manage().account.overview({ signal }), [], LIVE);
  return (
    <Screen title={t('title')}>
      {error !== undefined &&
        (data && isPassing(error) ? (
          <Note tone="warn">{word('stale')}</Note>
        ) : (
          <Failure error={error} onRetry={() => void reload()} />
        ))}
      {data ? <Content of={data} /> : error === undefined && <Loading lines={8} />}
    </Screen>
  );
}

function Content({
  of: { balance, oldest_waiting, today, last_week, capped, attention },
}: {
  readonly of: OverviewView;
}) {
  const statuses = [...new Set([...Object.keys(today), ...Object.keys(last_week)])];
  const sum = (counts: Readonly<Record<string, number>>): number =>
    Object.values(counts).reduce((total, each) => total + each, 0);
  return (
    <>
      {attention.length > 0 && (
        <ul class="attention">
          {attention.map(({ kind, target, at }) => (
            <li key={`${kind} ${target}`} class="note warn">
              <span dir="auto">{t.of(kind, { target: kind === 'balance_low' ? Number(target) : target })}</span>
              <span>
                {at !== null && <Ago at={at} />} <a href={attentionHref(kind)}>{t('look')}</a>
              </span>
            </li>
          ))}
        </ul>
      )}
      <div class="cards">
        <Figure name={t('balance')} value={number(balance)} note={<a href={hrefOf('balance')}>{t('entries')}</a>} />
        <Figure name={t('today')} value={number(sum(today))} note={t('lastWeek', { n: sum(last_week) })} />
        <Figure
          name={t('oldest')}
          value={oldest_waiting === null ? t('nothingWaits') : <Ago at={oldest_waiting} />}
          note={t('oldestHint')}
        />
      </div>
      <Section title={t('byStatus')}>
        {(capped.today || capped.last_week) && <p class="hint">{t('capped')}</p>}
        {statuses.length === 0 ? (
          <Empty
            title={t('quiet')}
            action={
              <a class="button main" href={hrefOf('compose')}>
                {t('first')}
              </a>
            }
          >
            {t('quietHow')}
          </Empty>
        ) : (
          <Table
            caption={t('byStatus')}
            rows={statuses}
            identity={(status) => status}
            columns={[
              { title: word('status'), cell: (status) => <Status of={status} /> },
              { title: t('today'), right: true, cell: (status) => number(today[status] ?? 0) },
              { title: t('lastWeekColumn'), right: true, cell: (status) => number(last_week[status] ?? 0) },
            ]}
          />
        )}
      </Section>
    </>
  );
}
