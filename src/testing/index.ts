export { callerGuard } from './caller-guard.js';
export { FakeClock } from './fake-clock.js';
export { MemoryStorage } from './memory-storage.js';
export {
  describeMsgappTransport,
  type MsgappTransportHarness,
  type OpenMsgappTransport,
  type ReceivedMsgapp,
  type WrittenMsgapp,
} from './msgapp-contract.js';
export {
  describeStorage,
  type OpenStorage,
  type StorageHarness,
  type StoragePart,
  type StorageTamper,
  type StoredUnits,
  type TestRunner,
} from './storage-contract.js';
export {
  type DoubleOutcome,
  describeSmsTransport,
  type OpenSmsTransport,
  type ReceivedSms,
  type SmsTransportHarness,
  type TransportPart,
} from './transport-contract.js';
