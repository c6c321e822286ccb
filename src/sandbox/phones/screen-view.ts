import { internationalNumber, isPhoneNumber } from '../../common/phone-numbers/phone-number.js';
import { type DeliveryStatus, shownStatus } from '../../outbox/delivery-state.js';
import { measure } from '../../sms/segmentation.js';
import { SMS } from '../../sms/sms-channel.js';
import type { ScreenMediaView, ScreenMessageView } from '../sandbox.api.js';
import { playerOf } from '../sandbox-files.js';
import { phoneMessageView } from './phone-message-view.js';
import type { PhoneDelivery, PhoneMedia, ScreenMessage } from './phone-store.js';

/** Converts a message to the form of the API that the page reads. */
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

/** Returns the view of a message that has just arrived, before its result is stored. */
export function justArrived(message: PhoneDelivery): ScreenMessage {
  return { ...message, arrived: true, delivery: undefined, fileKept: message.fileId !== undefined };
}

/** Returns the status of a message that has arrived. Its stored status may follow a moment later. */
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
