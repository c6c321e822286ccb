import { afterAll, beforeAll, expect } from '@jest/globals';
import { callsThroughClient } from './through-client.js';

beforeAll(() => {
  process.env.API_CALLS = 'client';
});

afterAll(() => {
  expect(callsThroughClient.size).toBeGreaterThan(0);
});
