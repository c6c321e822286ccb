import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import type { CanceledMessage } from '../../../../client/index.js';
import { Button } from '../../components/button.js';
import { Confirm, Dialog, Form } from '../../components/dialog.js';
import { messaging } from '../../core/clients.js';
import { serverNow } from '../../core/clock.js';
import { useForm } from '../../core/form.js';
import { texts } from '../../core/i18n.js';
import { tell } from '../../core/said.js';
import { can } from '../../core/session.js';
import { badMoment, localMomentOf, MomentFields, momentOf } from './schedule.js';

const t = texts(
  {
    cancel: 'Cancel the message',
    ask: 'Recipients who have not received it yet will not receive it, and their units are refunded. This cannot be undone.',
    done: '{canceled} canceled, {late} too late, {units} {units|unit|units} refunded.',
    move: 'Move',
    moveTitle: 'Another moment',
    moved: 'Moved.',
  },
  {
    cancel: 'Annuler le message',
    ask: 'Ceux qui ne l’ont pas encore reçu ne le recevront pas, et leurs unités sont remboursées. C’est définitif.',
    done: '{canceled} {canceled|annulé|annulés}, {late} trop tard, {units} {units|unité remboursée|unités remboursées}.',
    move: 'Déplacer',
    moveTitle: 'Un autre moment',
    moved: 'Déplacé.',
  },
);

/** A message that waits for its moment. */
export interface WaitingMessage {
  readonly id: string;
  /** The moment that it waits for. */
  readonly at: string;
}

interface Acts {
  /** The buttons of a message. */
  buttons(of: WaitingMessage): ComponentChildren;
  /** The open dialog. A screen renders it outside its rows, so that it stays when the row of its message disappears. */
  readonly dialog: ComponentChildren;
}

/**
 * The buttons that cancel or move a message that waits, with their dialogs. A user who may do neither gets no buttons.
 * @param channel `sms`, or the name of a messaging-app channel
 * @param onDone called after the change
 */
export function useWaitingActs(channel: string, onDone: () => void): Acts {
  const asked = useSignal<{ readonly what: 'cancel' | 'move'; readonly of: WaitingMessage } | undefined>(undefined);
  const isSms = channel === 'sms';
  const close = (done: boolean): void => {
    asked.value = undefined;
    if (done) onDone();
  };
  const button = (what: 'cancel' | 'move', of: WaitingMessage) => (
    <Button onClick={() => (asked.value = { what, of })}>{t(what)}</Button>
  );
  const { what, of } = asked.value ?? {};
  return {
    buttons: (each) => (
      <>
        {isSms && can('sms.reschedule') && button('move', each)}
        {can(isSms ? 'sms.cancel' : 'msgapp.cancel') && button('cancel', each)}
      </>
    ),
    dialog:
      of && (what === 'move' ? <Move of={of} onClose={close} /> : <Cancel channel={channel} of={of} onClose={close} />),
  };
}

interface AskedProps {
  readonly of: WaitingMessage;
  /** Called with true after the change. */
  onClose(done: boolean): void;
}

function Cancel({ channel, of, onClose }: AskedProps & { readonly channel: string }) {
  const done = useSignal<CanceledMessage | undefined>(undefined);
  return (
    <Confirm
      title={t('cancel')}
      verb={t('cancel')}
      change={async () => {
        const client = messaging();
        done.value = await (channel === 'sms' ? client.sms : client.msgapp(channel)).cancel(of.id);
      }}
      onClose={(isDone) => {
        const { canceled = 0, too_late: late = 0, refunded_units: units = 0 } = done.value ?? {};
        if (isDone) tell({ said: t('done', { canceled, late, units }) });
        onClose(isDone);
      }}
    >
      <p>{t('ask')}</p>
    </Confirm>
  );
}

function Move({ of, onClose }: AskedProps) {
  const form = useForm(`move-${of.id}-${of.at}`, localMomentOf(Date.parse(of.at)), async (values) => {
    await messaging().sms.reschedule(of.id, { send_at: new Date(momentOf(values) ?? of.at).toISOString() });
    tell({ said: t('moved') });
    onClose(true);
  });
  const now = serverNow();
  const isBad = momentOf(form.values) === undefined || badMoment(form.values, now) !== undefined;
  return (
    <Dialog title={t('moveTitle')} onClose={() => onClose(false)}>
      <Form form={form} submit={t('move')} disabled={isBad} onCancel={() => onClose(false)}>
        <MomentFields of={form.values} now={now} onInput={form.set} />
      </Form>
    </Dialog>
  );
}
