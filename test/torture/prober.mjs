/**
 * A worker thread that sends requests as another account at a steady rate, whether the last answer has come or not. It
 * shows what others see of a hostile caller. `workerData`: `{ url, key, body }`; with a body it sends a POST. At a
 * message it stops and answers `{ statuses, times }`: how often each status came (0: none within a minute), and the
 * milliseconds of each answer.
 */
import { Agent, request } from 'node:http';
import { parentPort, workerData } from 'node:worker_threads';

const BEAT_MS = 25;
const PATIENCE_MS = 60_000;
/** The requests that wait for an answer. */
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

/** @param from when the request was first sent */
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
  // The server may close an idle connection just as the next request uses it. Then there is no answer, and the request
  // is sent again.
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
