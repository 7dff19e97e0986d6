// Graphs: launches of a stream that are started together.
#include "driver.h"

using namespace hipep;

hipep_status hipep_stream::capture(const hipep_planned_launch*, int32_t, const uint8_t*, hipep_graph**) {
  return hipep_fail(HIPEP_UNSUPPORTED, "%s:%d has no graphs", device->info.backend, device->info.ordinal);
}

hipep_status hipep_stream::replay(uint64_t, hipep_graph*) {
  return hipep_fail(HIPEP_UNSUPPORTED, "%s:%d has no graphs", device->info.backend, device->info.ordinal);
}

hipep_status hipep_graph_create(hipep_stream* stream, const hipep_planned_launch* launches, int32_t count,
                                const uint8_t* args, hipep_graph** out) {
  hipep_graph* graph = nullptr;
  set_capturing(stream->timeline, true);
  const hipep_status status = stream->capture(launches, count, args, &graph);
  set_capturing(stream->timeline, false);
  if (status != HIPEP_OK) return status;
  graph->launches = count;
  graph->stream = stream;
  *out = graph;
  return HIPEP_OK;
}

hipep_status hipep_graph_launch(hipep_stream* stream, hipep_graph* graph) {
  if (graph->stream != stream) return hipep_fail(HIPEP_INVALID, "a graph is started on the stream it was made for");
  const uint64_t serial = stream->timeline->next();
  const hipep_status status = stream->replay(serial, graph);
  if (__builtin_expect(status != HIPEP_OK, 0)) return status;
  stream->timeline->submitted(serial);
  thread_counters.launches += graph->launches;
  return HIPEP_OK;
}

void hipep_graph_destroy(hipep_graph* graph) {
  if (graph != nullptr) graph->destroy();
}
