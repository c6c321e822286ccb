import { internationalNumber, isPhoneNumber } from '../../common/phone-numbers/phone-number.js';
import { type DeliveryStatus, shownStatus } from '../../outbox/delivery-state.js';
import { measure } from '../../sms/segmentation.js';
import { SMS } from '../../sms/sms-channel.js';
import { playerOf } from '../sandbox-files.js';
import { type PhoneMediaView, type PhoneMessageView, phoneMessageView } from './phone-message-view.js';
import type { PhoneDelivery, PhoneMedia, ScreenMessage } from './phone-store.js';

/** A message as the page shows it. */
export interface ScreenMessageView extends PhoneMessageView {
  /** `from` and `to` as people read them. */
  readonly fromText: string;
  readonly toText: string;
  readonly media: ScreenMediaView | null;
  readonly status: DeliveryStatus;
  /** Why the message has not arrived. */
  readonly error: string | null;
  /** Number of SMS; null on other channels. */
  readonly segments: number | null;
  /** What the delivery was charged, and what was refunded of that; null while not known. */
  readonly units: number | null;
  readonly refundedUnits: number | null;
}

/** A file as the page shows it. */
export interface ScreenMediaView extends PhoneMediaView {
  readonly fileName: string | null;
  /** What shows it in a browser; null: it can only be saved. */
  readonly player: 'image' | 'audio' | 'video' | null;
  /** Whether its bytes can still be read. */
  readonly kept: boolean;
}

/** Converts a message to its wire form for the page. */
export function screenMessageView(message: ScreenMessage): ScreenMessageView {
  const { channel, from, to, text, media, fileKept, arrived, delivery } = message;
  const status = arrived ? arrivedStatus(delivery?.status) : delivery ? shownStatus(delivery) : 'unknown';
  return {
    ...phoneMessageView(message),
    fromText: isPhoneNumber(from) ? internationalNumber(from) : from,
    toText: internationalNumber(to),
    media: media ? mediaView(media, fileKept) : null,
    status,
    error: arrived ? null : (delivery?.error ?? null),
    segments: channel === SMS ? measure(text).segments : null,
    units: delivery?.units ?? null,
    refundedUnits: delivery?.refundedUnits ?? null,
  };
}

/** A message that has just arrived, before its result is stored. */
export function justArrived(message: PhoneDelivery): ScreenMessage {
  return { ...message, arrived: true, delivery: undefined, fileKept: message.fileId !== undefined };
}

/** The status of a message that has arrived. Its stored status may follow a moment later. */
function arrivedStatus(stored: DeliveryStatus | undefined): DeliveryStatus {
  return stored === 'read' ? 'read' : 'delivered';
}

function mediaView(media: PhoneMedia, kept: boolean): ScreenMediaView {
  const { type, mimetype, size, sha256, caption, fileName } = media;
  return {
    type,
    mimetype,
    fileName: fileName ?? null,
    size,
    sha256,
    caption: caption ?? null,
    player: playerOf(mimetype) ?? null,
    kept,
  };
}
