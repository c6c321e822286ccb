export {
  describeMsgappTransport,
  type MsgappTransportHarness,
  type OpenMsgappTransport,
  type ReceivedMsgapp,
  type WrittenMsgapp,
} from '../../test/contract/msgapp/msgapp-contract.js';
export {
  describeStorage,
  type OpenStorage,
  type StorageHarness,
  type StoragePart,
  type StorageTamper,
  type StoredUnits,
  type TestRunner,
} from '../../test/contract/storage/storage-contract.js';
export {
  type DoubleOutcome,
  describeSmsTransport,
  type OpenSmsTransport,
  type ReceivedSms,
  type SmsTransportHarness,
  type TransportPart,
} from '../../test/contract/transport/transport-contract.js';
export { callerGuard } from './caller-guard.js';
export { FakeClock } from './fake-clock.js';
export { MemoryStorage } from './memory-storage.js';
