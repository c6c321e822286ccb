import { useSignal } from '@preact/signals';
import { Button } from '../../components/button.js';
import { Failure, Note } from '../../components/notes.js';
import { Section } from '../../components/page.js';
import { Status } from '../../components/shown.js';
import { Table } from '../../components/table.js';
import { useAction } from '../../core/form.js';
import { moment, preciseMoment } from '../../core/format.js';
import { hrefOf } from '../../core/router.js';
import { word } from '../../core/words.js';
import { fieldOf } from '../shared/event.js';
import { shownNumber } from '../shared/number.js';
import { type EventWithCalls, type FoundEvents, findEvents, MAX_CALLS } from './find-events.js';
import { t } from './message-texts.js';

/** The events of a message and their webhook calls. They are loaded on request only, because finding them takes many reads. */
export function MessageEvents({ id, since }: { readonly id: string; readonly since: string }) {
  const found = useSignal<FoundEvents | undefined>(undefined);
  const look = useAction(async () => {
    const { signal } = new AbortController();
    found.value = await findEvents(id, since, signal);
  });
  const rows = found.value?.rows;
  const readUntil = found.value?.readUntil;
  return (
    <Section
      title={t('events')}
      actions={
        <Button busy={look.busy} onClick={() => void look.run()}>
          {look.busy ? word('loading') : rows === undefined ? t('look') : word('reload')}
        </Button>
      }
    >
      <Failure error={look.error} />
      {rows === undefined && <p class="soft">{t('eventsHow')}</p>}
      {readUntil !== undefined && <Note tone="warn">{t('eventsUntil', { at: moment(readUntil) })}</Note>}
      {rows?.length === 0 && readUntil === undefined && <Note>{t('noEvents')}</Note>}
      {rows !== undefined && rows.length > 0 && (
        <Table
          caption={t('events')}
          rows={rows}
          identity={({ event }) => String(event.sequence)}
          columns={[
            { title: '#', right: true, cell: ({ event }) => event.sequence },
            { title: t('event'), cell: ({ event }) => <code>{event.type}</code> },
            { title: word('number'), cell: ({ event }) => <bdi>{shownNumber(fieldOf(event, 'number') ?? '–')}</bdi> },
            { title: word('time'), cell: ({ event }) => preciseMoment(event.timestamp) },
            { title: t('calls'), cell: Calls },
          ]}
        />
      )}
    </Section>
  );
}

function Calls({ calls, isSure }: EventWithCalls) {
  if (calls.length === 0) return <span class="soft">{isSure ? t('notCalled') : t('notAmong', { n: MAX_CALLS })}</span>;
  return (
    <span class="badges">
      {calls.map(({ name, endpoint, ok, httpStatus }, index) => (
        <a key={index} href={hrefOf(`webhooks/${encodeURIComponent(endpoint)}`)}>
          <Status
            of={ok ? 'delivered' : 'failed'}
            text={t('call', { name, status: httpStatus === null ? t('noAnswer') : String(httpStatus) })}
          />
        </a>
      ))}
    </span>
  );
}
