import { useSignal } from '@preact/signals';
import type { CanceledMessage } from '../../../../client/index.js';
import { Button } from '../../components/button.js';
import { Confirm, Dialog, Form } from '../../components/dialog.js';
import { Empty, Note } from '../../components/notes.js';
import { Screen } from '../../components/page.js';
import { Units } from '../../components/shown.js';
import { ListTable } from '../../components/table.js';
import { messaging } from '../../core/clients.js';
import { serverNow } from '../../core/clock.js';
import { useForm } from '../../core/form.js';
import { moment } from '../../core/format.js';
import { texts } from '../../core/i18n.js';
import { LIVE, useList } from '../../core/resource.js';
import { hrefOf } from '../../core/router.js';
import { can } from '../../core/session.js';
import { word } from '../../core/words.js';
import { channelName, channelsOf } from '../messages/channels.js';
import { shownNumber } from '../shared/number.js';
import '../shared/parts.css';
import { badMoment, deviceZone, localMomentOf, MomentFields, momentOf } from '../shared/schedule.js';

const t = texts(
  {
    title: 'Scheduled',
    lead: 'What waits for its moment, the next one first. Times are in {zone}, the zone of this device.',
    none: 'Nothing is scheduled',
    noneHow: 'A message that you send later waits here until its moment.',
    write: 'Write a message',
    at: 'Goes out',
    to: 'To',
    others: '+ {n} {n|other|others}',
    text: 'Text',
    file: 'File',
    removed: 'removed',
    cancel: 'Cancel the message',
    ask: 'Whoever has not got it yet will not get it, and the units come back. This cannot be undone.',
    done: '{canceled} canceled, {late} too late, {units} {units|unit|units} back.',
    move: 'Move',
    moveTitle: 'Another moment',
    moved: 'Moved.',
  },
  {
    title: 'Programmés',
    lead: 'Ce qui attend son moment, le plus proche en premier. Heures de {zone}, le fuseau de cet appareil.',
    none: 'Rien n’est programmé',
    noneHow: 'Un message que vous envoyez plus tard attend ici jusqu’à son moment.',
    write: 'Rédiger un message',
    at: 'Part le',
    to: 'À',
    others: '+ {n} {n|autre|autres}',
    text: 'Texte',
    file: 'Fichier',
    removed: 'supprimé',
    cancel: 'Annuler le message',
    ask: 'Ceux qui ne l’ont pas encore reçu ne le recevront pas, et les unités sont rendues. C’est définitif.',
    done: '{canceled} {canceled|annulé|annulés}, {late} trop tard, {units} {units|unité rendue|unités rendues}.',
    move: 'Déplacer',
    moveTitle: 'Un autre moment',
    moved: 'Déplacé.',
  },
);

/** A message that waits for its moment. */
interface Waiting {
  readonly id: string;
  readonly at: string;
  readonly to: string;
  readonly others: number;
  readonly text: string | null;
  readonly units: number;
}

/** What is being asked about a message. */
type Asked = { readonly what: 'cancel' | 'move'; readonly of: Waiting } | undefined;

/** The messages of all channels that wait for their moment. */
export function Scheduled() {
  const channels = channelsOf();
  return (
    <Screen title={t('title')} lead={t('lead', { zone: deviceZone() })}>
      {channels.map((channel) => (
        <section key={channel}>
          {channels.length > 1 && <h2>{channelName(channel)}</h2>}
          {channel === 'sms' ? <WaitingSms /> : <WaitingApp channel={channel} />}
        </section>
      ))}
    </Screen>
  );
}

function WaitingSms() {
  const list = useList(
    (options) => messaging().sms.list({ scheduled: true }, options),
    [],
    ({ smsID }) => smsID,
    LIVE,
  );
  const data = list.data?.map(
    ({ smsID, send_at, date_sent, number, recipients_count, content, sms_units, refunded_units }) => ({
      id: smsID,
      at: send_at ?? date_sent,
      to: number[0] ?? '',
      others: recipients_count - 1,
      text: content,
      units: sms_units - refunded_units,
    }),
  );
  return (
    <WaitingList
      channel="sms"
      list={{ ...list, data }}
      cancel={can('sms.cancel') ? (id) => messaging().sms.cancel(id) : undefined}
      move={can('sms.reschedule') ? (id, send_at) => messaging().sms.reschedule(id, { send_at }) : undefined}
    />
  );
}

function WaitingApp({ channel }: { readonly channel: string }) {
  const list = useList(
    (options) => messaging().msgapp(channel).messages({ scheduled: true }, options),
    [channel],
    ({ messageID }) => messageID,
    LIVE,
  );
  const data = list.data?.map(({ messageID, send_at, queued_at, to, body, media, units, refunded_units }) => ({
    id: messageID,
    at: send_at ?? queued_at,
    to,
    others: 0,
    text: media ? (media.caption ?? t('file')) : body,
    units: units - refunded_units,
  }));
  const cancel = can('msgapp.cancel') ? (id: string) => messaging().msgapp(channel).cancel(id) : undefined;
  return <WaitingList channel={channel} list={{ ...list, data }} cancel={cancel} />;
}

interface WaitingListProps {
  readonly channel: string;
  readonly list: Parameters<typeof ListTable<Waiting>>[0]['list'];
  /** Undefined if the user may not cancel. */
  readonly cancel: ((id: string) => Promise<CanceledMessage>) | undefined;
  /** Undefined if the user may not move the message, or the channel has no such route. */
  readonly move?: ((id: string, sendAt: string) => Promise<unknown>) | undefined;
}

function WaitingList({ channel, list, cancel, move }: WaitingListProps) {
  const asked = useSignal<Asked>(undefined);
  const said = useSignal('');
  const end = (sentence?: string) => {
    asked.value = undefined;
    if (sentence === undefined) return;
    said.value = sentence;
    void list.reload();
  };
  const ask = (what: 'cancel' | 'move', of: Waiting) => {
    asked.value = { what, of };
  };
  return (
    <>
      <div role="status">{said.value !== '' && <Note tone="good">{said.value}</Note>}</div>
      <ListTable
        list={list}
        caption={`${t('title')} · ${channelName(channel)}`}
        identity={({ id }) => id}
        empty={
          <Empty
            title={t('none')}
            action={
              can('sms.send') && (
                <a class="button" href={hrefOf('compose')}>
                  {t('write')}
                </a>
              )
            }
          >
            {t('noneHow')}
          </Empty>
        }
        columns={[
          { title: t('at'), cell: ({ at }) => <span class="nowrap">{moment(at)}</span> },
          { title: t('to'), cell: (row) => <To channel={channel} of={row} /> },
          {
            title: t('text'),
            cell: ({ text }) => (
              <div class="excerpt" dir="auto">
                {text ?? <i class="soft">{t('removed')}</i>}
              </div>
            ),
          },
          { title: word('units'), right: true, cell: ({ units }) => <Units of={units} /> },
          {
            title: word('actions'),
            quiet: true,
            right: true,
            cell: (row) => (
              <div class="buttons">
                {move && <Button onClick={() => ask('move', row)}>{t('move')}</Button>}
                {cancel && <Button onClick={() => ask('cancel', row)}>{t('cancel')}</Button>}
              </div>
            ),
          },
        ]}
      />
      {asked.value?.what === 'cancel' && cancel && <CancelDialog of={asked.value.of} cancel={cancel} onClose={end} />}
      {asked.value?.what === 'move' && move && <MoveDialog of={asked.value.of} move={move} onClose={end} />}
    </>
  );
}

function To({ channel, of: { id, to, others } }: { readonly channel: string; readonly of: Waiting }) {
  return (
    <span class="nowrap">
      <a href={hrefOf(`messages/${encodeURIComponent(id)}`, { channel: channel === 'sms' ? undefined : channel })}>
        <bdi>{shownNumber(to)}</bdi>
      </a>
      {others > 0 && <span class="soft"> {t('others', { n: others })}</span>}
    </span>
  );
}

interface AskedProps {
  readonly of: Waiting;
  /** Called with a sentence about what was done; without one if nothing was. */
  onClose(sentence?: string): void;
}

function CancelDialog({ of, cancel, onClose }: AskedProps & Required<Pick<WaitingListProps, 'cancel'>>) {
  const done = useSignal<CanceledMessage | undefined>(undefined);
  return (
    <Confirm
      title={t('cancel')}
      verb={t('cancel')}
      change={async () => {
        done.value = await cancel?.(of.id);
      }}
      onClose={() => {
        const result = done.value;
        onClose(
          result && t('done', { canceled: result.canceled, late: result.too_late, units: result.refunded_units }),
        );
      }}
    >
      <p>{t('ask')}</p>
    </Confirm>
  );
}

interface MoveProps extends AskedProps {
  move(id: string, sendAt: string): Promise<unknown>;
}

function MoveDialog({ of, move, onClose }: MoveProps) {
  const form = useForm(`move-${of.id}-${of.at}`, localMomentOf(Date.parse(of.at)), async (values) => {
    await move(of.id, new Date(momentOf(values) ?? of.at).toISOString());
    onClose(t('moved'));
  });
  const now = serverNow();
  const isBad = momentOf(form.values) === undefined || badMoment(form.values, now) !== undefined;
  return (
    <Dialog title={t('moveTitle')} onClose={() => onClose()}>
      <Form form={form} submit={t('move')} disabled={isBad} onCancel={() => onClose()}>
        <MomentFields of={form.values} now={now} onInput={form.set} />
      </Form>
    </Dialog>
  );
}
