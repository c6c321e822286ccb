import { Injectable } from '@nestjs/common';
import { withinPage } from '../../common/listing/page.js';

/** A call of a webhook that the sandbox has received. */
export interface HookCall {
  /** The number of the call. It counts the calls of this process. */
  readonly number: number;
  /** When the call came, in milliseconds since the epoch. */
  readonly at: number;
  /** The header `webhook-id`. '' if the call has none. */
  readonly webhookId: string;
  /** Whether the call's signature is valid. Undefined: there is no endpoint to verify it with. */
  readonly verified: boolean | undefined;
  readonly body: string;
}

/** For how many names calls are kept, and how many calls for each name. */
const MAX_NAMES = 50;
const MAX_CALLS = 100;

/** How many characters all bodies together may have, so that full inboxes do not use up the memory of the process. */
const MAX_CHARACTERS = 64 * 1_048_576;

/** Keeps the last calls of each name, for people to look at. They are in memory and are lost when the process ends. */
@Injectable()
export class HookInbox {
  /** The calls by name, oldest first. The name that was called last is at the end. */
  private readonly inboxes = new Map<string, HookCall[]>();
  private readonly listeners = new Set<() => void>();
  private received = 0;
  private characters = 0;

  /** The names, most recently called first. */
  get names(): readonly string[] {
    return [...this.inboxes.keys()].reverse();
  }

  /** Returns the calls of a name, the newest first. */
  calls(name: string): readonly HookCall[] {
    return [...(this.inboxes.get(name) ?? [])].reverse();
  }

  /** Returns the newest calls of a name, about `MAX_PAGE_BYTES` of them, the newest first. */
  newestCalls(name: string): readonly HookCall[] {
    return withinPage(this.calls(name), ({ body }) => Buffer.byteLength(body));
  }

  receive(name: string, call: Omit<HookCall, 'number'>): void {
    const calls = this.inboxes.get(name) ?? [];
    this.inboxes.delete(name);
    this.inboxes.set(name, calls);
    calls.push({ ...call, number: ++this.received });
    this.characters += call.body.length;
    if (calls.length > MAX_CALLS) this.forgetFirst(name, calls);
    while (this.inboxes.size > MAX_NAMES || this.characters > MAX_CHARACTERS) this.forgetOldest();
    for (const listener of this.listeners) listener();
  }

  /** Calls `listener`, which must not throw, after each received call. Returns the function that removes the listener. */
  listen(listener: () => void): () => void {
    const own = () => listener();
    this.listeners.add(own);
    return () => void this.listeners.delete(own);
  }

  /**
   * Forgets calls of the name that was called longest ago. If there are too many names, it forgets all calls of that name,
   * otherwise only the first.
   */
  private forgetOldest(): void {
    const [[name, calls] = ['', []]] = this.inboxes;
    do this.forgetFirst(name, calls);
    while (this.inboxes.size > MAX_NAMES);
  }

  private forgetFirst(name: string, calls: HookCall[]): void {
    this.characters -= calls.shift()?.body.length ?? 0;
    if (calls.length === 0) this.inboxes.delete(name);
  }
}
