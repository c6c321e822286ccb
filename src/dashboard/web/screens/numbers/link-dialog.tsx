import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { Button } from '../../components/button.js';
import { Dialog } from '../../components/dialog.js';
import { Failure, Note } from '../../components/notes.js';
import { api, newKey } from '../../core/api.js';
import { language } from '../../core/i18n.js';
import { followStream } from '../shared/event-stream.js';
import { shownNumber } from '../shared/number.js';
import { sessionWord, t } from './numbers-texts.js';
import './link-dialog.css';

interface Offer {
  readonly sessionID: string;
  readonly qrToken: string;
}

type State =
  | { readonly kind: 'asking' }
  | { readonly kind: 'code'; readonly image: string; readonly expiresAt: string }
  | { readonly kind: 'done'; readonly number: string }
  | { readonly kind: 'ended'; readonly reason: string }
  | { readonly kind: 'failed'; readonly error: unknown };

/** Asks for a session and shows its code as long as it waits to be scanned; each code as it comes. */
export function LinkDialog({ channel, onClose }: { readonly channel: string; onClose(): void }) {
  const state = useSignal<State>({ kind: 'asking' });
  const cut = useSignal(false);
  const round = useSignal(0);

  useEffect(() => {
    const over = new AbortController();
    const isOpen = (): boolean => state.value.kind === 'asking' || state.value.kind === 'code';
    state.value = { kind: 'asking' };
    cut.value = false;
    follow(channel, over.signal, {
      show: (next) => {
        state.value = next;
        if (!isOpen()) over.abort();
      },
      cut: (isCut) => {
        cut.value = isCut && isOpen();
      },
    }).catch((error: unknown) => {
      if (!over.signal.aborted) state.value = { kind: 'failed', error };
    });
    return () => over.abort();
  }, [channel, round.value]);

  const now = state.value;
  const isOver = now.kind === 'ended' || now.kind === 'failed';
  return (
    <Dialog title={now.kind === 'done' ? t('link') : t('scan')} onClose={onClose}>
      <div class="form">
        {!isOver && now.kind !== 'done' && <p>{t('steps')}</p>}
        {(now.kind === 'asking' || now.kind === 'code') && (
          <div class="qr" aria-busy={now.kind === 'asking'}>
            {now.kind === 'code' ? <img src={now.image} alt={t('code')} width={264} height={264} /> : t('asking')}
          </div>
        )}
        <div role="status">
          {now.kind === 'code' && !Number.isNaN(Date.parse(now.expiresAt)) && (
            <p class="hint">{t('renewed', { at: clockTime(now.expiresAt) })}</p>
          )}
          {now.kind === 'done' && <Note tone="good">{t('done', { number: shownNumber(now.number) })}</Note>}
          {now.kind === 'ended' && <Note tone="warn">{t('ended', { reason: sessionWord.of(now.reason) })}</Note>}
          {cut.value && <Note tone="warn">{t('cut')}</Note>}
        </div>
        {now.kind === 'failed' && <Failure error={now.error} />}
        <div class="buttons">
          {isOver && (
            <Button
              onClick={() => {
                round.value++;
              }}
            >
              {t('another')}
            </Button>
          )}
          {now.kind === 'done' && (
            <Button kind="main" onClick={onClose}>
              {t('ready')}
            </Button>
          )}
        </div>
      </div>
    </Dialog>
  );
}

function clockTime(iso: string): string {
  return new Intl.DateTimeFormat(language.value, { timeStyle: 'medium' }).format(new Date(iso));
}

interface Shown {
  show(state: State): void;
  cut(isCut: boolean): void;
}

const WAITING: readonly unknown[] = ['created', 'reconnecting'];

async function follow(channel: string, signal: AbortSignal, { show, cut }: Shown): Promise<void> {
  const base = `${encodeURIComponent(channel)}/web`;
  const offer = await api.post<Offer>(`${base}/connect`, {}, newKey(), signal);
  // The user has closed the dialog meanwhile: nobody will scan.
  if (signal.aborted) return drop(base, offer);
  signal.addEventListener('abort', () => void drop(base, offer), { once: true });
  let isOver = false;
  const say = (state: State): void => {
    isOver = state.kind !== 'code';
    show(state);
  };
  await followStream(`${base}/qr/${encodeURIComponent(offer.qrToken)}`, {
    signal,
    onState: (state) => cut(state === 'waiting' && !isOver),
    onMessage: ({ event, data }) => {
      const said = parsed(data);
      if (event === 'qr' && typeof said.image === 'string' && said.image.startsWith('data:image/')) {
        say({ kind: 'code', image: said.image, expiresAt: String(said.expires_at) });
      }
      if (event !== 'status' || WAITING.includes(said.status)) return;
      if (said.status === 'connected') say({ kind: 'done', number: String(said.number ?? '') });
      else say({ kind: 'ended', reason: String(said.reason ?? said.status) });
    },
  });
}

/** A code that nobody looks at any more holds a place among those that may wait. */
async function drop(base: string, { sessionID }: Offer): Promise<void> {
  const path = `${base}/status`;
  const { status } = await api.get<{ readonly status: string }>(path, { sessionID }).catch(() => ({ status: '' }));
  if (status === 'created') await api.delete(`${base}/${encodeURIComponent(sessionID)}`).catch(() => undefined);
}

function parsed(data: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(data);
    return typeof value === 'object' && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}
