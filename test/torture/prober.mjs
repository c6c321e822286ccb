/**
 * A worker thread that asks as another account, on a beat, whether the answer to the last question is there or not: what the
 * others see of a hostile caller. `workerData`: `{ url, key, body }`; with a body it is a POST. At a message it stops and
 * answers `{ statuses, times }`: how often each status came (0: none within a minute), and each answer's milliseconds.
 */
import { Agent, request } from 'node:http';
import { parentPort, workerData } from 'node:worker_threads';

const BEAT_MS = 25;
const PATIENCE_MS = 60_000;
/** Of questions that wait for an answer. */
const MAX_WAITING = 100;

const { url, key, body } = workerData;
const agent = new Agent({ keepAlive: true });
const statuses = {};
const times = [];
let waiting = 0;
let stopped = false;

const beat = setInterval(() => {
  if (waiting < MAX_WAITING) ask();
}, BEAT_MS);
ask();

parentPort.once('message', () => {
  stopped = true;
  clearInterval(beat);
  finish();
});

/** @param from when the question was first put */
function ask(from = performance.now()) {
  waiting++;
  const headers = { 'x-api-key': key, ...(body && { 'content-type': 'application/json' }) };
  const asked = request(url, { agent, headers, method: body ? 'POST' : 'GET', timeout: PATIENCE_MS });
  let status = 0;
  asked.on('response', (response) => {
    status = response.statusCode;
    response.resume();
  });
  asked.on('timeout', () => asked.destroy());
  let wasIdle = false;
  // Whoever closes an idle connection may meet the next question on it: that is no answer, and the question is put again.
  asked.on('error', ({ code }) => {
    wasIdle = asked.reusedSocket && code === 'ECONNRESET';
  });
  asked.on('close', () => {
    waiting--;
    if (wasIdle) return ask(from);
    times.push(performance.now() - from);
    statuses[status] = (statuses[status] ?? 0) + 1;
    finish();
  });
  asked.end(body && JSON.stringify(body));
}

function finish() {
  if (!stopped || waiting > 0) return;
  agent.destroy();
  parentPort.postMessage({ statuses, times });
  parentPort.close();
}
