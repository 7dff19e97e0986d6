// Graphs of a GPU backend, captured from a stream. See gpu_stream.h for what Driver is; for graphs it has the types
// Graph and GraphExec, the constant kCaptureRelaxed and has_graphs().
#pragma once

#include "driver.h"

namespace hipep {

template <class Driver>
class GpuGraph final : public hipep_graph {
 public:
  GpuGraph(typename Driver::Device* device, typename Driver::GraphExec executable, const char* last_kernel)
      : executable(executable), last_kernel(last_kernel), device_(device) {}

  // The driver frees a graph that is running when it is done.
  void destroy() override {
    if (Driver::usable()) {
      typename Driver::Scope scope(device_);
      if (scope.status() == HIPEP_OK) Driver::api().graph_exec_destroy(executable);
    }
    delete this;
  }

  const typename Driver::GraphExec executable;
  const char* const last_kernel;

 private:
  typename Driver::Device* const device_;
};

// Lets start() launch on the stream while it captures, and makes what it launched executable. Called in the device's
// scope. The relaxed mode leaves other threads and libraries free to call what they like meanwhile.
template <class Driver, class Start>
hipep_status capture_graph(int32_t ordinal, typename Driver::Stream stream, Start start,
                           typename Driver::GraphExec* out) {
  const auto& api = Driver::api();
  typename Driver::Graph graph = nullptr;
  int result = api.stream_begin_capture(stream, Driver::kCaptureRelaxed);
  if (result != Driver::kSuccess) return Driver::fail(result, "StreamBeginCapture", ordinal);
  hipep_status status = start();
  // After a launch that failed, too: it takes the stream out of the capture.
  result = api.stream_end_capture(stream, &graph);
  const char* call = "StreamEndCapture";
  if (status == HIPEP_OK && result == Driver::kSuccess) {
    result = api.graph_instantiate(out, graph, 0);
    call = "GraphInstantiate";
  }
  if (status == HIPEP_OK && result != Driver::kSuccess) status = Driver::fail(result, call, ordinal);
  if (graph != nullptr) api.graph_destroy(graph);
  if (status != HIPEP_OK) Driver::clear_error();
  return status;
}

}  // namespace hipep
