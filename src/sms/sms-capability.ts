import { Clock } from '../common/clock.js';
import type { Capability } from '../core/capability.js';
import { provideRecipientLimit } from '../http/recipient-limit.js';
import { providePurge } from '../outbox/purger.js';
import { provideErasure } from '../outbox/retention/erasure-service.js';
import { RetentionSettings } from '../outbox/retention/retention-options.js';
import { smsCallbackOpenapi } from './callbacks/sms-callback.openapi.js';
import { SmsCallbacks } from './callbacks/sms-callbacks.js';
import { InboundTexts, longTextErasure, longTextPurge } from './inbound/inbound-texts.js';
import { ReceivedSmsIntake, receivedSmsPurge } from './inbound/received-sms-intake.js';
import { ReceivedSmsStore } from './inbound/received-sms-store.js';
import { UnreadNumbers } from './inbound/unread-numbers.js';
import { OptOutDirectory } from './opt-out/opt-out-directory.js';
import { optOutErasure } from './opt-out/opt-out-erasure.js';
import { OptOutIntake } from './opt-out/opt-out-intake.js';
import { OptOutList, OptOutService } from './opt-out/opt-out-service.js';
import { OptOutStore } from './opt-out/opt-out-store.js';
import { CarrierSink } from './receipts/carrier-sink.js';
import { partPurge, receiptErasure } from './receipts/part-removal.js';
import { PartStore } from './receipts/part-store.js';
import { ReceiptIntake } from './receipts/receipt-intake.js';
import { SubmitRecord } from './receipts/submit-record.js';
import { RouteChecks } from './route-checks.js';
import { routeRecipientErasure, routeRecipientPurge } from './route-recipients/route-recipient-removal.js';
import { RouteRecipientStore } from './route-recipients/route-recipient-store.js';
import { smsOpenapi } from './sms.openapi.js';
import { SmsChannel } from './sms-channel.js';
import { SmsSettings } from './sms-options.js';
import { SmsService } from './sms-service.js';
import { TemplateService } from './templates/template-service.js';
import { TemplateStore } from './templates/template-store.js';
import { templatesOpenapi } from './templates/templates.openapi.js';

/** The parts of SMS that do not depend on the options. `SmsSettings` and `SmsTransport` do. */
export const SMS_CAPABILITY: Capability = {
  stores: [PartStore, OptOutStore, ReceivedSmsStore, RouteRecipientStore, TemplateStore],
  controllers: [smsOpenapi, templatesOpenapi, smsCallbackOpenapi],
  providers: [
    OptOutDirectory,
    OptOutList,
    OptOutIntake,
    OptOutService,
    ReceivedSmsIntake,
    InboundTexts,
    UnreadNumbers,
    ReceiptIntake,
    CarrierSink,
    SubmitRecord,
    SmsChannel,
    SmsCallbacks,
    TemplateService,
    SmsService,
    RouteChecks,
    providePurge(PartStore, partPurge),
    providePurge(ReceivedSmsStore, receivedSmsPurge),
    providePurge(InboundTexts, longTextPurge),
    providePurge(RouteRecipientStore, routeRecipientPurge),
    provideErasure(routeRecipientErasure, [RouteRecipientStore]),
    provideErasure(longTextErasure, [ReceivedSmsStore]),
    provideErasure(receiptErasure, [PartStore]),
    provideErasure(optOutErasure, [OptOutStore, OptOutDirectory, RetentionSettings, Clock]),
    provideRecipientLimit(SmsSettings, ({ maxRecipients }) => maxRecipients),
  ],
  exports: [SmsService, TemplateService, OptOutService, OptOutDirectory, SmsSettings],
};
