import { SandboxMsgappTransport } from 'nestjs-messaging';
import { BaileysMsgappTransport } from 'nestjs-messaging/baileys';
import { WhatsappCloudMsgappTransport } from 'nestjs-messaging/whatsapp-cloud';
import type { Config } from './config.js';

/** Returns the transport of the messaging-app channel. Baileys itself is loaded only when its transport starts. */
export function msgappTransport({ msgappTransport: name, whatsappCloud }: Config) {
  if (whatsappCloud) return WhatsappCloudMsgappTransport.forRoot(whatsappCloud);
  return name === 'baileys' ? BaileysMsgappTransport.forRoot() : SandboxMsgappTransport;
}
