export { MemoryStorage } from '../storage/memory/memory-storage.js';
export { FakeClock } from './fake-clock.js';
export {
  describeStorage,
  type OpenStorage,
  type StorageHarness,
  type StorageTamper,
  type TestRunner,
} from './storage-contract.js';
