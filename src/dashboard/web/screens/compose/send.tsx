import {
  type MediaOrder,
  type MsgappSendResult,
  newIdempotencyKey,
  type SendOptions,
  type SmsOrder,
  type TextOrder,
} from '../../../../client/index.js';
import { isInvisible } from '../../../../common/text/visible-text.js';
import { Button } from '../../components/button.js';
import { Dialog } from '../../components/dialog.js';
import { Failure, Loading, Note } from '../../components/notes.js';
import { Facts } from '../../components/page.js';
import { messaging } from '../../core/clients.js';
import { useAction } from '../../core/form.js';
import { number } from '../../core/format.js';
import { useResource } from '../../core/resource.js';
import { word } from '../../core/words.js';
import { shownNumber } from '../shared/number.js';
import { Segments } from '../shared/segments.js';
import { whenFacts, whenOf } from '../shared/when.js';
import { t } from './compose-texts.js';
import { clearDraft, draft } from './draft.js';
import type { Sent } from './form-parts.js';
import { Price } from './price.js';
import { type Priced, type Price as PriceOf, quote } from './quote.js';
import { OwnTexts } from './table-field.js';

interface DialogProps {
  onClose(): void;
  onSent(sent: Sent): void;
}

/**
 * The last order and its Idempotency-Key. If the same order is sent again, even from a new dialog, it has the same key, so that
 * nothing is sent twice.
 */
let attempt = { of: '', key: '' };

/** How long a send may take, in milliseconds. A body with many recipients takes minutes on a slow connection. */
const SEND_MS = 300_000;

function callOf(order: object): SendOptions {
  const of = JSON.stringify(order);
  if (attempt.of !== of) attempt = { of, key: newIdempotencyKey() };
  return { idempotencyKey: attempt.key, timeoutMs: SEND_MS };
}

function done(): void {
  attempt = { of: '', key: '' };
  clearDraft();
}

interface Look {
  readonly price: PriceOf;
  readonly balance: number;
}

interface SmsDialogProps extends DialogProps {
  readonly signature: string;
  readonly of: Priced;
}

/** Shows the message with its exact price, and sends it. */
export function SendSms({ signature, of, onClose, onSent }: SmsDialogProps) {
  const { when } = draft.value;
  const { text, numbers, to } = of;
  const { data, error, reload } = useResource<Look>(async (signal) => {
    const [price, { balance }] = await Promise.all([quote(of, 'exactly', signal), messaging().balance({ signal })]);
    return { price, balance };
  }, []);
  const send = useAction(async () => {
    const order: SmsOrder = { signature, content: text, ...(to ? { to } : { number: numbers }), ...options() };
    const { smsID, sms_units } = await messaging().sms.send(order, callOf(order));
    done();
    onSent({ id: smsID, text: t('sent', { n: numbers.length, units: word('unitsOf', { n: sms_units }) }) });
    onClose();
  });
  const left = data && data.balance - data.price.units;
  return (
    <Dialog title={t('confirm')} onClose={onClose} wide={to !== undefined}>
      <div class="form">
        <Facts
          of={[
            [t('from'), <bdi key="from">{signature}</bdi>],
            [t('recipients'), <Some key="to" of={numbers} />],
            ...whenFacts(when),
          ]}
        />
        {to ? <OwnTexts price={data?.price} /> : <Segments of={text} />}
        {data === undefined && error === undefined && <Loading lines={3} />}
        <Failure error={error} onRetry={() => void reload()} />
        {data && (
          <>
            <Price of={data.price} />
            <Facts
              of={[
                [t('balance'), number(data.balance)],
                [t('after'), number(data.balance - data.price.units)],
              ]}
            />
          </>
        )}
        {left !== undefined && left < 0 && <Note tone="bad">{t('short')}</Note>}
        <Failure error={send.error} />
        <div class="buttons">
          <Button onClick={onClose}>{t('change')}</Button>
          {data && (
            <Button
              kind="main"
              busy={send.busy}
              disabled={data.balance < data.price.units}
              onClick={() => void send.run()}
            >
              {t(when.later ? 'schedule' : 'send', { n: data.price.units })}
            </Button>
          )}
        </div>
      </div>
    </Dialog>
  );
}

/** Shows a message of a messaging app, and sends it. */
export function SendApp({
  channel,
  to,
  from,
  onClose,
  onSent,
}: DialogProps & { readonly channel: string; readonly to: string; readonly from: string | undefined }) {
  const { text, withFile, mediaUrl, mediaType, when } = draft.value;
  const url = mediaUrl.trim();
  const addressed = { to, from, ...options() };
  const sendText = (): Promise<MsgappSendResult> => {
    const order: TextOrder = { ...addressed, body: text };
    return messaging()
      .msgapp(channel)
      .sendText(order, callOf({ channel, ...order }));
  };
  const sendFile = (): Promise<MsgappSendResult> => {
    const order: MediaOrder = {
      ...addressed,
      mediaUrl: url,
      mediaType: mediaType || undefined,
      caption: isInvisible(text) ? undefined : text,
    };
    return messaging()
      .msgapp(channel)
      .sendMedia(order, callOf({ channel, ...order }));
  };
  const send = useAction(async () => {
    const { messageID } = await (withFile ? sendFile() : sendText());
    done();
    onSent({ id: messageID, text: t('sentApp'), query: { channel } });
    onClose();
  });
  return (
    <Dialog title={t('confirm')} onClose={onClose}>
      <div class="form">
        <Facts
          of={[
            [t('to'), <bdi key="to">{shownNumber(to)}</bdi>],
            [t('linked'), <bdi key="from">{from === undefined ? t('anyLinked') : shownNumber(from)}</bdi>],
            ...(withFile
              ? [
                  [t('mediaUrl'), <bdi key="file">{url}</bdi>] as const,
                  [t('mediaType'), mediaType === '' ? t('anyKind') : t.of(mediaType)] as const,
                ]
              : []),
            ...whenFacts(when),
          ]}
        />
        {!isInvisible(text) && (
          <div class="segments">
            <p class="segment" dir="auto">
              {text}
            </p>
          </div>
        )}
        <Failure error={send.error} />
        <div class="buttons">
          <Button onClick={onClose}>{t('change')}</Button>
          <Button kind="main" busy={send.busy} onClick={() => void send.run()}>
            {t(when.later ? 'scheduleApp' : 'sendApp')}
          </Button>
        </div>
      </div>
    </Dialog>
  );
}

const SHOWN = 5;

function Some({ of }: { readonly of: readonly string[] }) {
  const rest = of.length - SHOWN;
  return (
    <>
      <bdi>{of.slice(0, SHOWN).map(shownNumber).join(', ')}</bdi>
      {rest > 0 && <span class="soft"> {t('badMore', { n: rest })}</span>}
    </>
  );
}

/** Returns the part of an order that is the same on every channel. */
function options(): Pick<SmsOrder, 'priority' | 'metadata' | 'send_at' | 'valid_for' | 'window'> {
  const { priority, metadata, when } = draft.value;
  return {
    ...whenOf(when),
    priority: priority === 'normal' ? undefined : priority,
    metadata: metadata.trim() === '' ? undefined : metadataOf(metadata),
  };
}

function metadataOf(lines: string): Record<string, string> {
  const entries = lines.split('\n').flatMap((line): [string, string][] => {
    const at = line.indexOf('=');
    return at < 1 ? [] : [[line.slice(0, at).trim(), line.slice(at + 1).trim()]];
  });
  return Object.fromEntries(entries);
}
