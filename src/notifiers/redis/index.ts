export { RedisNotifier, type RedisNotifierOptions, type RedisNotifierSource } from './redis-notifier.js';
