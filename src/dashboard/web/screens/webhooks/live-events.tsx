import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { Button } from '../../components/button.js';
import { Empty, Failure, Note } from '../../components/notes.js';
import { Screen } from '../../components/page.js';
import { Table } from '../../components/table.js';
import { api } from '../../core/api.js';
import { ApiError } from '../../core/errors.js';
import { moment } from '../../core/format.js';
import { chosenAccount, hrefOf } from '../../core/router.js';
import { can } from '../../core/session.js';
import { word } from '../../core/words.js';
import type { LoggedEvent } from '../shared/event.js';
import { followStream } from '../shared/event-stream.js';
import { shownNumber } from '../shared/number.js';
import { Body } from './endpoint-parts.js';
import { t } from './webhook-texts.js';
import { Tabs } from './webhooks.js';

/** Events that stay on the screen. */
const KEPT = 200;
/** Earlier events that are shown at first. */
const EARLIER = 20;

/** The account's events as they are committed. */
export function LiveEvents() {
  const events = useSignal<readonly LoggedEvent[]>([]);
  const state = useSignal<'open' | 'waiting'>('waiting');
  const error = useSignal<unknown>(undefined);
  const paused = useSignal(false);
  const missed = useSignal(false);
  const last = useRef<number | undefined>(undefined);

  useEffect(() => {
    if (paused.value) return;
    const over = new AbortController();
    error.value = undefined;
    void (async () => {
      try {
        last.current ??= await earlier(over.signal);
        await followStream('events/stream', {
          query: { after: last.current },
          again: () => ({ after: last.current }),
          signal: over.signal,
          onState: (now, reason) => {
            state.value = now;
            if (!(reason instanceof ApiError && reason.status === 410)) return;
            // What was missed is no longer kept: from the earliest on.
            missed.value = true;
            last.current = undefined;
          },
          onMessage: ({ data }) => {
            const event: LoggedEvent = JSON.parse(data);
            last.current = event.sequence;
            if (events.value.some(({ sequence }) => sequence === event.sequence)) return;
            events.value = [event, ...events.value].slice(0, KEPT);
          },
        });
      } catch (reason) {
        if (!over.signal.aborted) error.value = reason;
      }
    })();
    return () => over.abort();
  }, [paused.value, chosenAccount()]);

  const rows = events.value;
  const isOpen = state.value === 'open' && !paused.value;
  return (
    <Screen
      title={t('live')}
      lead={t('liveLead')}
      actions={
        <Button
          onClick={() => {
            paused.value = !paused.value;
          }}
        >
          {t(paused.value ? 'follow' : 'pause')}
        </Button>
      }
    >
      <Tabs current="live" />
      <p role="status" class="stream-line">
        <span class={`stream-state ${paused.value ? '' : isOpen ? 'on' : 'off'}`}>
          {paused.value ? t('paused') : isOpen ? t('following') : t('waiting')}
        </span>
      </p>
      <Failure error={error.value} />
      {missed.value && <Note tone="warn">{t('missed')}</Note>}
      {rows.length === 0 ? (
        <Empty
          title={t('quiet')}
          action={
            can('sms.send') && (
              <a class="button" href={hrefOf('compose')}>
                {t('write')}
              </a>
            )
          }
        >
          {t('quietHow')}
        </Empty>
      ) : (
        <>
          <Table
            caption={t('live')}
            rows={rows}
            identity={({ sequence }) => String(sequence)}
            columns={[
              { title: '#', right: true, cell: ({ sequence }) => sequence },
              { title: word('time'), cell: ({ timestamp }) => moment(timestamp) },
              { title: t('filterType'), cell: ({ type }) => <code>{type}</code> },
              { title: word('number'), cell: NumberOf },
              { title: t('wrote'), cell: Data },
            ]}
          />
          <p class="hint">{t('kept200', { n: KEPT })}</p>
        </>
      )}
    </Screen>
  );
}

/** A place some events before the last one, of those that are kept. */
async function earlier(signal: AbortSignal): Promise<number> {
  const { items, last } = await api.get<Feed>('events', { limit: 1 }, signal);
  return Math.max(last - EARLIER, (items[0]?.sequence ?? last + 1) - 1, 0);
}

interface Feed {
  readonly items: readonly LoggedEvent[];
  readonly last: number;
}

function NumberOf({ data }: LoggedEvent) {
  const number = data.number ?? data.from;
  return <bdi>{typeof number === 'string' ? shownNumber(number) : '–'}</bdi>;
}

function Data({ data, sequence }: LoggedEvent) {
  return (
    <details>
      <summary>
        {word('details')}
        <span class="hidden-text"> {sequence}</span>
      </summary>
      <Body of={data} />
    </details>
  );
}
