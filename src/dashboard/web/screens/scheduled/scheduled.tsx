import { Empty } from '../../components/notes.js';
import { Screen } from '../../components/page.js';
import { Units } from '../../components/shown.js';
import { ListTable } from '../../components/table.js';
import { messaging } from '../../core/clients.js';
import { moment } from '../../core/format.js';
import { texts } from '../../core/i18n.js';
import { LIVE, useList } from '../../core/resource.js';
import { hrefOf } from '../../core/router.js';
import { can } from '../../core/session.js';
import { word } from '../../core/words.js';
import { channelName, channelsOf } from '../messages/channels.js';
import { shownNumber } from '../shared/number.js';
import '../shared/parts.css';
import { deviceZone } from '../shared/schedule.js';
import { useWaitingActs, type WaitingMessage } from '../shared/waiting.js';

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
  },
);

/** A message that waits for its moment. */
interface Waiting extends WaitingMessage {
  readonly to: string;
  readonly others: number;
  readonly text: string | null;
  readonly units: number;
}

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
  return <WaitingList channel="sms" list={{ ...list, data }} />;
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
  return <WaitingList channel={channel} list={{ ...list, data }} />;
}

interface WaitingListProps {
  readonly channel: string;
  readonly list: Parameters<typeof ListTable<Waiting>>[0]['list'];
}

function WaitingList({ channel, list }: WaitingListProps) {
  const { buttons, dialog } = useWaitingActs(channel, () => void list.reload());
  return (
    <>
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
            cell: (row) => <div class="buttons">{buttons(row)}</div>,
          },
        ]}
      />
      {dialog}
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
