import { SMS_STATUSES } from '../../../../events/delivery-status.js';
import { Button } from '../../components/button.js';
import { DayFields, SelectField } from '../../components/field.js';
import { Empty, Note } from '../../components/notes.js';
import { Filters, Screen } from '../../components/page.js';
import { Ago, Units } from '../../components/shown.js';
import { type Column, ListTable } from '../../components/table.js';
import { chosenPeriod } from '../../core/period.js';
import type { List } from '../../core/resource.js';
import { choiceOf, filterOf, hrefOf, queryValue, setQuery } from '../../core/router.js';
import { can } from '../../core/session.js';
import { word } from '../../core/words.js';
import { BadNumber, QueryField } from '../shared/filters.js';
import { cleanNumber, shownNumber } from '../shared/number.js';
import { channelName, channelsOf } from './channels.js';
import { nameOf } from './delivery-status.js';
import { Message } from './message.js';
import { type MessageFilters, mergedLists, useApp, useSms } from './message-lists.js';
import { t } from './message-texts.js';
import type { Row } from './message-types.js';
import { RowStatus } from './row-status.js';
import '../shared/parts.css';
import './messages.css';

/** The list of messages, or one message if the address names it. */
export function Messages({ rest }: { readonly rest: string }) {
  return rest === '' ? <AllMessages /> : <Message key={rest} id={rest} />;
}

const FILTERS = ['number', 'status', 'signature', 'from', 'to', 'metadata', 'channel'] as const;

function AllMessages() {
  const all = channelsOf();
  const wanted = queryValue('channel');
  // Only SMS have sender names, so a filter by sender leaves the other channels out.
  const channels = all.filter(
    (each) => (wanted === '' || each === wanted) && (each === 'sms' || queryValue('signature') === ''),
  );
  const write = can('sms.send') && (
    <a class="button main" href={hrefOf('compose')}>
      {t('compose')}
    </a>
  );
  return (
    <Screen title={t('title')} lead={t('lead')} actions={write}>
      <div class="message-filters">
        <Filters>
          {all.length > 1 && (
            <SelectField
              label={t('channel')}
              value={wanted}
              options={[['', word('all')], ...all.map((each) => [each, channelName(each)] as const)]}
              onInput={(channel) => setQuery({ channel })}
            />
          )}
          <QueryField name="number" label={word('number')} type="tel" placeholder="+226 70 00 00 00" />
          <SelectField
            label={word('status')}
            value={queryValue('status')}
            options={[['', word('all')], ...SMS_STATUSES.map((each) => [each, nameOf(each)] as const)]}
            onInput={(status) => setQuery({ status })}
          />
          {all.includes('sms') && <QueryField name="signature" label={t('from')} />}
          <DayFields />
          <QueryField name="metadata" label={t('metadata')} placeholder={t('metadataHint')} />
          {FILTERS.some((name) => queryValue(name) !== '') && (
            <Button kind="plain" onClick={() => setQuery(Object.fromEntries(FILTERS.map((name) => [name, ''])))}>
              {word('clear')}
            </Button>
          )}
        </Filters>
      </div>
      <BadNumber typed={queryValue('number')} />
      {/^[^=]+$/.test(queryValue('metadata')) && <Note tone="warn">{t('badMetadata')}</Note>}
      {/* Each channel is a list: another choice of channels is another component. */}
      <Listed key={channels.join(' ')} channels={channels} />
    </Screen>
  );
}

function Listed({ channels }: { readonly channels: readonly string[] }) {
  const [key, ...value] = queryValue('metadata').split('=');
  const filters: MessageFilters = {
    number: cleanNumber(queryValue('number')),
    status: choiceOf('status', SMS_STATUSES),
    ...chosenPeriod(),
    metadata: key && value.length > 0 ? { [key]: value.join('=') } : undefined,
  };
  const signature = filterOf('signature');
  const lists = channels.map((channel) =>
    channel === 'sms' ? useSms({ ...filters, signature }) : useApp(channel, filters),
  );
  return <MessageTable list={mergedLists(lists)} several={channels.length > 1} />;
}

function MessageTable({ list, several }: { readonly list: List<Row>; readonly several: boolean }) {
  const columns: readonly Column<Row>[] = [
    {
      title: word('time'),
      narrow: 'small',
      cell: ({ at }) => (
        <span class="nowrap">
          <Ago at={at} />
        </span>
      ),
    },
    { title: t('to'), narrow: 'lead', cell: (row) => <To of={row} /> },
    { title: t('text'), narrow: 'text', cell: (row) => <Text of={row} /> },
    { title: t('from'), narrow: 'small', cell: (row) => <From of={row} several={several} /> },
    { title: word('status'), narrow: 'end', cell: (row) => <RowStatus of={row} /> },
    { title: word('units'), right: true, narrow: 'small', cell: (row) => <Price of={row} /> },
  ];
  return (
    <ListTable
      list={list}
      caption={t('title')}
      columns={columns}
      identity={({ channel, id }) => `${channel}/${id}`}
      opens
      filters={FILTERS}
      empty={
        <Empty
          title={t('none')}
          action={
            can('sms.send') && (
              <a class="button main" href={hrefOf('compose')}>
                {t('compose')}
              </a>
            )
          }
        >
          {t('noneHow')}
        </Empty>
      }
    />
  );
}

function To({ of: { channel, id, to, others } }: { readonly of: Row }) {
  return (
    <span class="nowrap">
      <a href={hrefOf(`messages/${encodeURIComponent(id)}`, { channel: channel === 'sms' ? undefined : channel })}>
        <bdi>{shownNumber(to)}</bdi>
      </a>
      {others > 0 && <span class="soft"> {t('others', { n: others })}</span>}
    </span>
  );
}

function Text({ of: { text, media } }: { readonly of: Row }) {
  return (
    <div class="excerpt" dir="auto">
      {media !== undefined && <span class="soft">{t('file', { type: media })} </span>}
      {text ?? (media === undefined && <i class="soft">{t('removed')}</i>)}
    </div>
  );
}

function From({ of: { from, channel }, several }: { readonly of: Row; readonly several: boolean }) {
  return (
    <span class="nowrap">
      <bdi class="clip" title={from}>
        {channel === 'sms' ? from : shownNumber(from)}
      </bdi>
      {several && channel !== 'sms' && <span class="soft"> · {channel}</span>}
    </span>
  );
}

function Price({ of: { units, refunded } }: { readonly of: Row }) {
  return (
    <span class="nowrap">
      <Units of={units} />
      {refunded > 0 && (
        <span class="soft" title={t('refunded', { n: refunded })}>
          {' '}
          <span aria-hidden="true">−{refunded}</span>
          <span class="hidden-text">({t('refunded', { n: refunded })})</span>
        </span>
      )}
    </span>
  );
}
