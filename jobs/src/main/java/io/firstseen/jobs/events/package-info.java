/** From bytes to events: parsing, the rules that an event must obey, and event time. */
package io.firstseen.jobs.events;
