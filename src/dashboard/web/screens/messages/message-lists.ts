import type { MsgappMessage, SmsStatus, SmsSummary } from '../../../../client/index.js';
import type { Metadata } from '../../../../events/events.api.js';
import { messaging } from '../../core/clients.js';
import { LIVE, type List, useList } from '../../core/resource.js';
import type { Row } from './message-types.js';

/** The filters that all channels share. */
export interface MessageFilters {
  readonly number: string | undefined;
  readonly status: SmsStatus | undefined;
  readonly since: string | undefined;
  readonly until: string | undefined;
  readonly metadata: Metadata | undefined;
}

/** Returns the SMS of the account as rows. */
export function useSms(filters: MessageFilters & { readonly signature: string | undefined }): List<Row> {
  const list = useList(
    (options) => messaging().sms.list(filters, options),
    [filters],
    ({ smsID }) => smsID,
    LIVE,
  );
  return { ...list, data: list.data?.map(rowOfSms) };
}

/** Returns the messages of one messaging-app channel as rows. */
export function useApp(channel: string, { number, ...filters }: MessageFilters): List<Row> {
  const list = useList(
    (options) =>
      messaging()
        .msgapp(channel)
        .messages({ ...filters, to: number }, options),
    [channel, number, filters],
    ({ messageID }) => messageID,
    LIVE,
  );
  return { ...list, data: list.data?.map((each) => rowOfApp(channel, each)) };
}

function rowOfSms(of: SmsSummary): Row {
  return {
    channel: 'sms',
    id: of.smsID,
    at: of.date_sent,
    to: of.number[0] ?? '',
    others: of.recipients_count - 1,
    from: of.signature,
    text: of.content,
    media: undefined,
    units: of.sms_units,
    refunded: of.refunded_units,
    status: undefined,
  };
}

function rowOfApp(channel: string, of: MsgappMessage): Row {
  return {
    channel,
    id: of.messageID,
    at: of.queued_at,
    to: of.to,
    others: 0,
    from: of.from,
    text: of.media ? of.media.caption : of.body,
    media: of.media?.type,
    units: of.units,
    refunded: of.refunded_units,
    status: of.status,
  };
}

/** The time to which a list has been read. Empty if it was read to its end. */
function endOf({ hasMore, searchedUntil, data }: List<Row>): string {
  return hasMore ? (searchedUntil ?? data?.at(-1)?.at ?? '') : '';
}

/**
 * Merges several lists into one, the newest row first. If a list has more pages, rows of the other lists that are older than
 * what it has read are not shown yet. Otherwise its next page would insert rows between those that are already shown.
 */
export function mergedLists(lists: readonly List<Row>[]): List<Row> {
  const ends = lists.map(endOf);
  const horizon = ends.toSorted().at(-1) ?? '';
  const isLoaded = lists.every(({ data }) => data !== undefined);
  const rows = lists.flatMap(({ data }) => data ?? []).filter(({ at }) => at >= horizon);
  return {
    data: isLoaded ? rows.sort((a, b) => (a.at < b.at ? 1 : a.at > b.at ? -1 : 0)) : undefined,
    error: lists.find(({ error }) => error !== undefined)?.error,
    loading: lists.some(({ loading }) => loading),
    hasMore: lists.some(({ hasMore }) => hasMore),
    // The list that has read the least says how far all of them have come.
    searchedUntil: lists.find((list, index) => ends[index] === horizon && list.searchedUntil !== undefined)
      ?.searchedUntil,
    more: async () => {
      await Promise.all(
        lists.filter((list, index) => list.hasMore && ends[index] === horizon).map((list) => list.more()),
      );
    },
    reload: async () => {
      await Promise.all(lists.map((list) => list.reload()));
    },
  };
}
