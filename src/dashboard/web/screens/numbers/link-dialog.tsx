import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { LinkNews, LinkOffer, MsgappRoutes } from '../../../../client/index.js';
import { Button } from '../../components/button.js';
import { Dialog } from '../../components/dialog.js';
import { Failure, Note } from '../../components/notes.js';
import { messaging } from '../../core/clients.js';
import { language } from '../../core/i18n.js';
import { shownNumber } from '../shared/number.js';
import { sessionWord, t } from './numbers-texts.js';
import './link-dialog.css';

type State =
  | { readonly kind: 'asking' }
  | { readonly kind: 'code'; readonly image: string; readonly expiresAt: string }
  | { readonly kind: 'done'; readonly number: string }
  | { readonly kind: 'ended'; readonly reason: string }
  | { readonly kind: 'failed'; readonly error: unknown };

/** Requests a session and shows each of its codes when it arrives, until one is scanned. */
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

async function follow(channel: string, signal: AbortSignal, { show, cut }: Shown): Promise<void> {
  const app = messaging().msgapp(channel);
  const offer = await app.connect();
  // The user has already closed the dialog, so nobody will scan the code.
  if (signal.aborted) return drop(app, offer);
  signal.addEventListener('abort', () => void drop(app, offer), { once: true });
  const onState = (state: 'open' | 'waiting'): void => cut(state === 'waiting');
  for await (const news of app.watchCode(offer.qrToken, { signal, onState })) {
    const next = stateOf(news);
    if (next !== undefined) show(next);
  }
}

/** Returns the new state of the dialog. Undefined if it does not change. */
function stateOf(news: LinkNews): State | undefined {
  if (news.type === 'qr') return { kind: 'code', image: news.image, expiresAt: news.expires_at };
  if (news.status === 'created' || news.status === 'reconnecting') return undefined;
  if (news.status === 'connected') return { kind: 'done', number: news.number ?? '' };
  return { kind: 'ended', reason: news.reason ?? news.status };
}

/** Gives up a code that nobody will scan, because only a few codes may wait at a time. */
async function drop(app: MsgappRoutes, { sessionID }: LinkOffer): Promise<void> {
  const { status } = await app.sessions({ sessionID }).catch(() => ({ status: 'disconnected' }));
  if (status === 'created') await app.logout(sessionID).catch(() => undefined);
}
