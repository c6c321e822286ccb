import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { type AccountEvent, MessagingApiError } from '../../../../client/index.js';
import { Button } from '../../components/button.js';
import { Empty, Failure, Note } from '../../components/notes.js';
import { Screen } from '../../components/page.js';
import { Table } from '../../components/table.js';
import { messaging } from '../../core/clients.js';
import { preciseMoment } from '../../core/format.js';
import { chosenAccount, hrefOf } from '../../core/router.js';
import { can } from '../../core/session.js';
import { word } from '../../core/words.js';
import { fieldOf } from '../shared/event.js';
import { shownNumber } from '../shared/number.js';
import { Body, Tabs } from './endpoint-parts.js';
import { t } from './webhook-texts.js';

/** How many events stay on the screen. */
const KEPT = 200;
/** How many earlier events are shown first. */
const EARLIER = 20;

/** The account's events, each as soon as it is recorded. */
export function LiveEvents() {
  const events = useSignal<readonly AccountEvent[]>([]);
  const state = useSignal<'open' | 'waiting'>('waiting');
  const error = useSignal<unknown>(undefined);
  const paused = useSignal(false);
  const missed = useSignal(false);
  const last = useRef<number | undefined>(undefined);

  useEffect(() => {
    if (paused.value) return;
    const over = new AbortController();
    error.value = undefined;
    const follow = async (): Promise<void> => {
      last.current ??= await earlier(over.signal);
      const onState = (now: 'open' | 'waiting'): void => {
        state.value = now;
      };
      for await (const event of messaging().events.stream({ after: last.current, signal: over.signal, onState })) {
        last.current = event.sequence;
        if (events.value.some(({ sequence }) => sequence === event.sequence)) continue;
        events.value = [event, ...events.value].slice(0, KEPT);
      }
    };
    const followAgain = async (): Promise<void> => {
      for (;;) {
        try {
          await follow();
        } catch (reason) {
          state.value = 'waiting';
          if (!(reason instanceof MessagingApiError && reason.status === 410)) throw reason;
          // The events after the last one that was shown are no longer kept, so the stream starts anew near its end.
          missed.value = true;
          last.current = undefined;
        }
      }
    };
    followAgain().catch((reason: unknown) => {
      if (!over.signal.aborted) error.value = reason;
    });
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
              { title: word('time'), cell: ({ timestamp }) => preciseMoment(timestamp) },
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

/** Returns the number after which the stream begins, so that it shows some earlier events first. */
async function earlier(signal: AbortSignal): Promise<number> {
  const { items, last } = await messaging().events.list({ limit: 1 }, { signal }).page();
  return Math.max(last - EARLIER, (items[0]?.sequence ?? last + 1) - 1, 0);
}

function NumberOf({ data }: AccountEvent) {
  const number = fieldOf({ data }, 'number') ?? fieldOf({ data }, 'from');
  return <bdi>{number === undefined ? '–' : shownNumber(number)}</bdi>;
}

function Data({ data, sequence }: AccountEvent) {
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
