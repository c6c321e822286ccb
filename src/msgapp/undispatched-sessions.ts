import { type BeforeApplicationShutdown, Injectable } from '@nestjs/common';
import { DispatchSettings } from '../outbox/dispatch-settings.js';
import { SessionManager } from './session-manager.js';

/** Closes the sessions of a process that delivers nothing; where there is a dispatcher, it does so after its last delivery. */
@Injectable()
export class UndispatchedSessions implements BeforeApplicationShutdown {
  constructor(
    private readonly sessions: SessionManager,
    private readonly settings: DispatchSettings,
  ) {}

  async beforeApplicationShutdown(): Promise<void> {
    if (!this.settings.enabled) await this.sessions.stop();
  }
}
