import { Injectable, type OnModuleInit } from '@nestjs/common';
import { MINUTE_MS } from '../common/time.js';
import { type CheckResult, HealthChecks } from '../health/health-checks.js';
import { MsgappSettings } from './msgapp-options.js';
import { SessionManager } from './sessions/session-manager.js';

/**
 * How long numbers may be without a connection before they count as cut, in milliseconds. Sessions usually reconnect by
 * themselves.
 */
const GRACE_MS = 2 * MINUTE_MS;

/** Checks whether the linked numbers of this process are connected. Numbers that wait for a scan do not count. */
@Injectable()
export class SessionChecks implements OnModuleInit {
  constructor(
    private readonly checks: HealthChecks,
    private readonly sessions: SessionManager,
    private readonly settings: MsgappSettings,
  ) {}

  onModuleInit(): void {
    const { channel: subject } = this.settings;
    this.checks.add({ check: 'sessions', subject, run: () => [this.numbers(subject)] });
  }

  private numbers(subject: string): CheckResult {
    const linked = this.sessions.sessions.filter(({ status }) => status === 'connected' || status === 'reconnecting');
    const connected = linked.filter(({ link }) => link !== undefined).length;
    const text = `${connected} of ${linked.length} linked numbers are connected.`;
    const isBad = linked.length > 0 && connected === 0;
    const state = isBad ? 'failed' : connected < linked.length ? 'warning' : 'ok';
    return { check: 'sessions', subject, state, text, graceMs: GRACE_MS };
  }
}
