import { type BeforeApplicationShutdown, Injectable } from '@nestjs/common';
import type { Capability } from '../core/capability.js';
import { EventStreams } from '../http/event-streams.js';
import { DispatchSettings, roleDelivers } from '../outbox/delivery/dispatch-options.js';
import { AddressStore } from './address-store.js';
import { msgappCallbackOpenapi } from './callbacks/msgapp-callback.openapi.js';
import { MsgappCallbacks } from './callbacks/msgapp-callbacks.js';
import { ChannelInjections } from './channel-injections.js';
import { channelToken } from './channel-token.js';
import { ContactStore } from './contacts/contact-store.js';
import { msgappOpenapi, msgappQrOpenapi } from './msgapp.openapi.js';
import { MsgappChannel } from './msgapp-channel.js';
import { MSGAPP_PURGES } from './msgapp-purges.js';
import { MsgappService } from './msgapp-service.js';
import { ActStore } from './received/act-store.js';
import { ReceivedActs } from './received/received-acts.js';
import { ReceivedFiles } from './received/received-files.js';
import { ReceivedMessageStore } from './received/received-message-store.js';
import { ReceivedMessages } from './received/received-messages.js';
import { ReceivedOrigins } from './received/received-origins.js';
import { Addressees } from './sending/addressees.js';
import { MediaIntake } from './sending/media-intake.js';
import { Senders } from './sending/senders.js';
import { SessionChecks } from './session-checks.js';
import { CredentialCheck } from './sessions/credential-vault.js';
import { QrCodes } from './sessions/qr-codes.js';
import { SessionManager } from './sessions/session-manager.js';
import { SessionStore } from './sessions/session-store.js';

/**
 * Closes the sessions of a process that delivers no messages. In other processes the dispatcher closes them after its last
 * delivery.
 */
@Injectable()
class UndispatchedSessions implements BeforeApplicationShutdown {
  constructor(
    private readonly sessions: SessionManager,
    private readonly settings: DispatchSettings,
  ) {}

  async beforeApplicationShutdown(): Promise<void> {
    if (!roleDelivers(this.settings.role, 'lanes')) await this.sessions.stop();
  }
}

const SHOWN = [MsgappService, SessionManager];

/**
 * Returns the parts of a messaging-app channel that do not depend on the options. The settings, `SessionVault` and
 * `MsgappTransport` do.
 */
export function msgappCapability(channel: string): Capability {
  const named = SHOWN.map((service) => ({ provide: channelToken(service, channel), useExisting: service }));
  return {
    stores: [SessionStore, ContactStore, ActStore, ReceivedMessageStore, AddressStore],
    controllers: [msgappOpenapi, msgappQrOpenapi, msgappCallbackOpenapi],
    providers: [
      ...SHOWN,
      MsgappChannel,
      MsgappCallbacks,
      Addressees,
      Senders,
      MediaIntake,
      ChannelInjections,
      ReceivedMessages,
      ReceivedFiles,
      ReceivedActs,
      ReceivedOrigins,
      QrCodes,
      EventStreams,
      CredentialCheck,
      UndispatchedSessions,
      SessionChecks,
      ...MSGAPP_PURGES,
      ...named,
    ],
    // A token that every channel provides must not be exported, because it would be injected into the other channels.
    exports: [...SHOWN, ...named.map(({ provide }) => provide)],
  };
}
