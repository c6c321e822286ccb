import { Global, Module } from '@nestjs/common';
import { storeProvider } from '../../core/capability.js';
import { SandboxFeed } from '../sandbox-feed.js';
import { SandboxScanner } from '../sandbox-scanner.js';
import { PHONE_REMOVAL } from './phone-removal.js';
import { PhoneReplies } from './phone-replies.js';
import { PhoneStore } from './phone-store.js';

/** The providers that the sandbox's transports and its page share. Only applications that use one of them import this module. */
@Global()
@Module({
  providers: [storeProvider(PhoneStore), SandboxFeed, SandboxScanner, PhoneReplies, ...PHONE_REMOVAL],
  exports: [PhoneStore, SandboxFeed, SandboxScanner, PhoneReplies],
})
export class SandboxPhones {}
