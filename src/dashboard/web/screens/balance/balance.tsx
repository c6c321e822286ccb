import type { CallOptions } from '../../../../client/index.js';
import { Button } from '../../components/button.js';
import { DayFields, SelectField } from '../../components/field.js';
import { Empty, Failure } from '../../components/notes.js';
import { Figure, Filters, Screen, Section } from '../../components/page.js';
import { Code, Status, Units } from '../../components/shown.js';
import { ListTable } from '../../components/table.js';
import { manage } from '../../core/clients.js';
import { saveAs } from '../../core/download.js';
import { type Action, useAction } from '../../core/form.js';
import { number, utcMoment } from '../../core/format.js';
import { chosenPeriod, periodOf } from '../../core/period.js';
import { useList, useResource } from '../../core/resource.js';
import { choiceOf, hrefOf, setQuery } from '../../core/router.js';
import { word } from '../../core/words.js';
import { t } from './balance-texts.js';
import { GROUPINGS, UsageSection } from './usage-section.js';

const KINDS = ['topup', 'adjust', 'charge', 'refund'] as const;

const TONES = { topup: 'good', adjust: 'info', charge: 'calm', refund: 'good' } as const;

/** The balance, its usage, and every entry of the ledger. */
export function Balance() {
  const period = periodOf(30);
  const by = choiceOf('by', GROUPINGS) ?? 'day';
  const sums = { ...period, group_by: [by] };
  const account = useResource((signal) => manage().account.me({ signal }), [], 15_000);
  const usage = useResource(
    (signal) => manage().account.usage(sums, { signal }),
    [JSON.stringify([period, by])],
    60_000,
  );
  const total = usage.data?.total;
  const usageFile = useDownload('usage', (options) => manage().account.usageCsv(sums, options));
  return (
    <Screen title={t('title')} lead={t('lastDays')}>
      <Filters>
        <DayFields />
        <SelectField
          label={t('by')}
          value={by}
          options={GROUPINGS.map((each) => [each, t(each)])}
          onInput={(chosen) => setQuery({ by: chosen })}
        />
      </Filters>
      <div class="cards">
        <Figure name={t('now')} value={number(account.data?.account?.balance ?? 0)} note={word('units')} />
        <Figure
          name={t('spent')}
          value={total ? number(total.net_units) : '–'}
          note={total && t('spentNote', { n: total.units, back: total.refunded_units })}
        />
        <Figure
          name={t('sends')}
          value={total ? number(total.sends) : '–'}
          note={total && t('recipients', { n: total.recipients })}
        />
      </div>
      <Section
        title={t('usage')}
        actions={
          <Button busy={usageFile.busy} onClick={() => void usageFile.run()}>
            {word('download')}
          </Button>
        }
      >
        <Failure error={usageFile.error} />
        <UsageSection usage={usage} by={by} period={period} />
      </Section>
      <Entries />
    </Screen>
  );
}

function Entries() {
  const kind = choiceOf('kind', KINDS);
  const query = { ...chosenPeriod('utc'), kind };
  const list = useList(
    (options) => manage().account.ledger(query, options),
    [query],
    ({ id }) => id,
    15_000,
  );
  const file = useDownload('ledger', (options) => manage().account.ledgerCsv(query, options));
  return (
    <Section
      title={t('entries')}
      actions={
        <div class="section-actions">
          <SelectField
            label={t('kind')}
            value={kind ?? ''}
            options={[['', word('all')], ...KINDS.map((each) => [each, t(each)] as const)]}
            onInput={(chosen) => setQuery({ kind: chosen })}
          />
          <Button busy={file.busy} onClick={() => void file.run()}>
            {word('download')}
          </Button>
        </div>
      }
    >
      <Failure error={file.error} />
      <ListTable
        list={list}
        caption={t('entries')}
        identity={({ id }) => id}
        filters={['kind', 'from', 'to']}
        empty={<Empty title={t('noEntries')}>{t('noEntriesHow')}</Empty>}
        columns={[
          { title: word('time'), cell: ({ at }) => utcMoment(at) },
          {
            title: t('kind'),
            cell: ({ kind: each }) => <Status of={each} text={t.of(each)} tone={TONES[each]} />,
          },
          { title: word('units'), right: true, cell: ({ units }) => <Units of={units} signed /> },
          { title: word('note'), cell: ({ note }) => note && <bdi>{note}</bdi> },
          {
            title: t('message'),
            cell: ({ message_id: id }) =>
              id && (
                <a href={hrefOf(`messages/${encodeURIComponent(id)}`)}>
                  <Code>{id}</Code>
                </a>
              ),
          },
        ]}
      />
    </Section>
  );
}

/** How long a download may take, in milliseconds. A large ledger takes minutes on a slow connection. */
const FILE_MS = 1_800_000;

/** Reads a CSV file and lets the browser save it. */
function useDownload(name: string, read: (options: CallOptions) => Promise<Blob>): Action {
  return useAction(async () =>
    saveAs(await read({ timeoutMs: FILE_MS }), `${name}-${new Date().toISOString().slice(0, 10)}.csv`),
  );
}
